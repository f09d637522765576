import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { batchChanges } from '../../src/core/domain/batch-changes.ts';
import { logEvents } from '../../src/core/runtime/log-events.ts';
import { batchOf, csv, type Json, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { everySecond, serving } from '../support/serving.ts';

it('each event of a batch, a halt, a run and the receiver is one JSON line without bank details', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0' });
  const { daemon, url } = await serving(home, {
    COUNTERFOIL_SCHEDULES_INTAKE: everySecond,
    COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
    COUNTERFOIL_SCHEDULES_RECONCILE: '*/3 * * * * *',
    COUNTERFOIL_SUBMISSION_PAYOUT_LIMIT: '{"NGN":"5000.00"}',
  });
  const seen = async (event: string): Promise<Json> =>
    JSON.parse(await daemon.line(new RegExp(`"event":"${event}"`)));
  await fetch(`${url}/webhooks/test`, { method: 'POST', body: '{}' });
  expect(await seen('webhook_rejected')).toMatchObject({
    level: 'warn',
    rejected: { signature_missing: 1 },
    sources: ['127.0.0.1'],
  });
  home.put('data/inbox/pay.csv', batchOf(3));
  const taken = await seen('batch_taken');
  expect(taken).toMatchObject({
    level: 'info',
    rows: 3,
    mode: 'test',
    batch: expect.stringMatching(/^pay-/),
  });
  expect(await seen('batch_sent')).toMatchObject({ batch: taken.batch });
  await home.sandbox.settleAll();
  expect(await seen('batch_done')).toMatchObject({ batch: taken.batch, counts: { success: 3 } });
  // The first run of the day may come before anything was sent.
  const verdict = expect.stringMatching(/^(none|reconciled)$/);
  expect(await seen('run_finished')).toMatchObject({ verdict, error: null });
  await home.json(['hold', '--mode'], 0);
  expect(await seen('halt_raised')).toMatchObject({ level: 'error', cause: 'person', reference: null });
  await home.json(['release', '--mode'], 0);
  await seen('halt_lifted');
  home.put('data/inbox/large.csv', csv(row(9, { amount: '9000.00' })));
  const held = await seen('batch_held');
  expect(held.batch).toMatch(/^large-/);
  await home.json(['cancel', held.batch, '--yes'], 0);
  expect(await seen('batch_cancelled')).toMatchObject({ batch: held.batch });
  daemon.signal('SIGTERM');
  const { code, err } = await daemon.done;
  expect(code).toBe(0);
  const logged: Json[] = err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(logged.at(-1)).toMatchObject({ event: 'stopped' });
  expect(logged.map(({ event }) => event)).toContain('started');
  for (const line of logged)
    expect(line).toMatchObject({
      level: expect.stringMatching(/^(info|warn|error)$/),
      time: expect.stringMatching(/Z$/),
      mode: 'test',
      version: expect.any(String),
      msg: expect.any(String),
    });
  expect(err).not.toMatch(/1000000\d\d\d|Okonkwo|sk_test/);
}, 60_000);

it('a batch that passes several states between two looks has all of its events', () => {
  expect(batchChanges(undefined, 'done')).toEqual(['taken', 'sent', 'done']);
  expect(batchChanges(undefined, 'loading')).toEqual([]);
  expect(batchChanges('loading', 'held')).toEqual(['taken', 'held']);
  expect(batchChanges('held', 'sending')).toEqual(['released']);
  expect(batchChanges('sending', 'sent')).toEqual(['sent']);
  expect(batchChanges('sent', 'done')).toEqual(['done']);
  expect(batchChanges('done', 'sent')).toEqual([]);
  expect(batchChanges('ready', 'cancelled')).toEqual(['cancelled']);
  expect(batchChanges('done', 'done')).toEqual([]);
});

it('the page of events has each with its level and fields', () => {
  const page = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (info|warn|error) \|([^|]*)\|/gm)];
  const described = rows.map(([, event, level, fields = '']) => {
    return [event, level, [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field)];
  });
  expect(described).toEqual(
    Object.entries(logEvents).map(([event, { level, fields }]) => [event, level, fields]),
  );
});
