import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { PostgresFailure } from '../../src/core/storage/failure.ts';
import { DatabaseAway, throughOutages } from '../../src/daemon/through-outages.ts';
import { configWith } from '../faces/alerts/setting.ts';
import { freePort } from '../support/server-process.ts';

const clock: Clock = { ...systemClock(), sleep: (_, signal) => systemClock().sleep(5, signal) };
const log = createLogger({ to: { write: () => undefined } });
const away = new PostgresFailure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432');

async function waiting() {
  const port = await freePort();
  const config = await configWith({ COUNTERFOIL_ADMIN_PORT: String(port) });
  const stop = new AbortController();
  let isAway = true;
  const ready: true[] = [];
  const deps = {
    config,
    clock,
    log,
    signal: stop.signal,
    async probe() {
      if (isAway) throw away;
    },
    onWaiting: () => void ready.push(true),
  };
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  };
  const end = (): void => {
    isAway = false;
  };
  return { deps, ask, end, stop, ready };
}

it('waits for the database at its start, says so, and goes on once it is there', async () => {
  const { deps, ask, end, ready } = await waiting();
  let runs = 0;
  const result = throughOutages(deps, async () => {
    if (++runs === 1) throw away;
    if (runs === 2) throw new DatabaseAway('others took over');
    return 'served';
  });
  await expect.poll(() => ready.length).toBe(1);
  expect((await ask('/healthz')).status).toBe(200);
  const { status, text } = await ask('/readyz');
  expect(status).toBe(503);
  expect(JSON.parse(text).problems).toEqual([
    {
      check: 'ledger',
      problem: expect.stringMatching(/has been away since .*ECONNREFUSED.*: nothing is sent$/),
      fix: expect.stringContaining('goes on by itself'),
    },
  ]);
  expect((await ask('/batches')).status).toBe(503);
  expect(JSON.parse((await ask('/batches')).text).fix).toContain('goes on by itself');
  const page = await ask('/batches', { accept: 'text/html,*/*;q=0.8' });
  expect([page.status, page.headers.get('retry-after')]).toEqual([503, '10']);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.text).toContain('The ledger’s database is away</h1>');
  expect(page.text).toContain('<a href="/batches">Batches</a>');
  expect(page.text).toMatch(/has been away since \d+ \w+ \d\d:\d\d \(/);
  expect(page.text).toContain('<meta http-equiv="refresh" content="10">');
  end();
  expect(await result).toBe('served');
  expect(runs).toBe(3);
});

it('turns every request of the API away for now, also a file of any type, and never says that nothing is there', async () => {
  const { deps, end, ready } = await waiting();
  let runs = 0;
  const result = throughOutages(deps, () =>
    ++runs === 1 ? Promise.reject(away) : Promise.resolve('served'),
  );
  await expect.poll(() => ready.length).toBe(1);
  const base = `http://127.0.0.1:${deps.config.admin.port}`;
  const post = (path: string, type: string, body: string) =>
    fetch(base + path, { method: 'POST', headers: { 'content-type': type }, body });
  for (const reply of [
    await fetch(`${base}/api/v1/payouts/A-1`),
    await post('/api/v1/batches?name=pay.csv', 'text/csv', 'x'.repeat(100_000)),
    await post('/api/v1/batches/b/approve', 'application/json', '{'),
    await fetch(`${base}/api/v1/status`, { method: 'PATCH' }),
  ]) {
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '10']);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await reply.json()).toMatchObject({
      type: 'urn:counterfoil:problem:ledger_away',
      status: 503,
      problem: expect.stringContaining('nothing is sent'),
      fix: expect.stringContaining('repeat the request'),
    });
  }
  expect((await post('/batches/b/approve', 'application/x-www-form-urlencoded', 'a=b')).status).toBe(503);
  end();
  expect(await result).toBe('served');
});

it('does not call the database back where it answers, and refuses', async () => {
  const { deps } = await waiting();
  const said: string[] = [];
  const told = createLogger({ to: { write: (line: string) => void said.push(line) } });
  const wrong = new PostgresFailure('28P01', 'password authentication failed');
  let runs = 0;
  const probe = () => Promise.reject(wrong);
  const run = () => Promise.reject(++runs === 1 ? away : wrong);
  await expect(throughOutages({ ...deps, log: told, probe }, run)).rejects.toBe(wrong);
  expect(said.join('')).toContain('ledger_away');
  expect(said.join('')).not.toContain('ledger_back');
});

it('ends the wait at a signal', async () => {
  const { deps, stop, ready } = await waiting();
  const result = throughOutages(deps, () => Promise.reject(away));
  await expect.poll(() => ready.length).toBe(1);
  stop.abort();
  expect(await result).toBeUndefined();
});

it('waits for nothing that waiting cannot mend', async () => {
  const { deps } = await waiting();
  const wrong = new PostgresFailure('28P01', 'password authentication failed');
  await expect(throughOutages(deps, () => Promise.reject(wrong))).rejects.toBe(wrong);
});
