import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { readListPage } from '../../src/core/service/pages.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { preflight } from '../../src/sending/preflight.ts';
import { preflightText } from '../../src/words/preflight-words.ts';
import { listedRow } from '../support/listed-row.ts';
import { clientOf } from './setting.ts';

/** What the preflight found, a problem as people read it. */
async function worded(deps: Parameters<typeof preflight>[0]) {
  const found = await preflight(deps);
  return found.kind === 'clear' ? found : { ...found, problem: preflightText(found.problem) };
}

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createSandbox();
});
afterEach(() => sandbox.stop());

async function check(of: Pick<Sandbox, 'url' | 'keys'> = sandbox) {
  const client = clientOf(of);
  const result = await worded({ service: client, clock: systemClock(), mode: 'test', baseUrl: of.url });
  await client.close();
  return result;
}

it('P24: clear when the list answers and shows only this mode', async () => {
  expect(await check()).toEqual({ kind: 'clear' });
  sandbox.book.plant();
  expect(await check()).toEqual({ kind: 'clear' });
});

it('P24: another mode’s transfer in the list keeps the process from sending', async () => {
  sandbox.book.plant({ domain: 'live' });
  expect(await check()).toMatchObject({ kind: 'problem', problem: expect.stringContaining('live transfer') });
});

it('a refused key and an absent service are problems that say what to do', async () => {
  const keys = { test: { ...sandbox.keys.test, secretKey: 'sk_test_wrong' } };
  expect(await check({ url: sandbox.url, keys })).toMatchObject({
    problem: expect.stringContaining('COUNTERFOIL_TEST_SECRET_KEY'),
  });
  const { url } = sandbox;
  await sandbox.stop();
  expect(await check({ url, keys })).toMatchObject({ problem: expect.stringContaining('service.base_url') });
  expect(sandbox.requests.posts).toBe(0);
});

it('P24: another mode’s transfer that shows no id keeps the process from sending too', async () => {
  const row = { ...listedRow(1), id: null, domain: 'LIVE' };
  const data = { current_page: 1, data: [row], last_page: 1, per_page: 50, total: 1 };
  const read = readListPage(JSON.stringify({ success: true, status: '00', data }), null);
  if (read.kind === 'bad') throw new Error(read.why);
  const listPage = async () => ({ kind: 'page' as const, page: read.page });
  expect(
    await worded({ service: { listPage }, clock: systemClock(), mode: 'test', baseUrl: sandbox.url }),
  ).toMatchObject({ kind: 'problem', problem: expect.stringContaining('lists a live transfer') });
});

/** A service that is busy so often, and a clock that passes only by sleeping. */
async function busy(times: number, retryAfterMs: number | null) {
  let asked = 0;
  let now = 0;
  const throttled = {
    kind: 'trouble' as const,
    reason: 'throttled' as const,
    message: 'HTTP 429',
    httpStatus: 429,
    retryAfterMs,
  };
  const client = clientOf(sandbox);
  const listPage: typeof client.listPage = async (page) =>
    ++asked > times ? client.listPage(page) : throttled;
  const sleep = async (ms: number) => {
    now += ms;
  };
  const clock = { ...systemClock(), monotonic: () => now, sleep };
  const result = await worded({ service: { listPage }, clock, mode: 'test', baseUrl: sandbox.url });
  await client.close();
  return { result, slept: now };
}

it('waits for a service that is busy as long as it asks, and no longer than a minute', async () => {
  expect(await busy(3, 7000)).toEqual({ result: { kind: 'clear' }, slept: 21_000 });
  expect(await busy(3, null)).toEqual({ result: { kind: 'clear' }, slept: 6000 });
  expect(await busy(3, 0)).toEqual({ result: { kind: 'clear' }, slept: 6000 });
  expect(await busy(1, 61_000)).toMatchObject({
    result: { kind: 'problem', problem: expect.stringContaining('asked too often (HTTP 429)') },
    slept: 0,
  });
});
