import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf } from '../../../src/core/domain/origin.ts';
import { barrierKeys, raiseBarrier } from '../../../src/core/ledger/barriers.ts';
import { recordStandpoint } from '../../../src/core/ledger/origins.ts';
import { record } from '../../../src/core/ledger/record.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { cancelUnsent } from '../../../src/sending/decisions/cancel-unsent.sql.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { clientOf, here, senderOf } from '../../sending/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { deliver, handClock, lookUpsOf } from '../../watching/lookups/setting.ts';
import { listedTransfer, nightOf } from './setting.ts';

const minute = 60_000;
const hour = 60 * minute;
const keys = (secret: string) => ({ secretKeys: [secret], encryptionKeys: [] });
const quiet = '{ resubmit: confirmed_absent, quiet_period_minutes: 180 }';
const clock = handClock();
let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
let id: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  sandbox = await createSandbox({ now: clock.now });
  client = clientOf(sandbox);
  clock.set(0);
  // A neighbour that the service shows: the transfer known to be present.
  const [other = 0n] = await addBatch(ledger, ['R-0'], { id: 'b-0' });
  await send(0, replies.accepted('77'), 'w-0');
  [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(0, replies.unknown());
  const order = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };
  sandbox.book.plant({ reference: 'R-0', ...order });
  await lookUps().lookUp([other]);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

async function send(ms: number, outcome: ReturnType<typeof replies.unknown>, worker = 'w-1'): Promise<void> {
  const [claim] = await claimAt(ledger, at(ms), 1, worker);
  if (!claim) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(ms), claim, outcome);
}
const lookUps = () => lookUpsOf(ledger, clock, client, { probe: true, quietPeriodMs: 3 * hour });
/** Follows the ladder, minute by minute. */
async function follow(from: number, to: number): Promise<void> {
  for (let ms = from; ms <= to; ms += minute) {
    clock.set(ms);
    await lookUps().askDue({ budget: 9 });
  }
}
const neighbour = listedTransfer('R-0', { id: '77' });
async function night(more: { ms?: number; full?: boolean; rows?: object[]; submission?: string } = {}) {
  const { ms = 4 * hour, full = true, submission = quiet } = more;
  clock.set(ms);
  const rows = [neighbour, ...(more.rows ?? []).map((row) => listedTransfer('X', row))];
  const run = await nightOf(ledger, { at: ms, full, rows, submission });
  return { ...run, payout: await payoutById(ledger, id) };
}

it('P16: confirmed absent, a payout is ordered once more under its reference, with the evidence written down', async () => {
  await follow(0, 3 * hour);
  const { payout, summary, kinds } = await night();
  expect(payout).toMatchObject({ state: 'ready', auto_resends: 1n, reference: 'R-1' });
  expect(payout.message).toMatch(/^confirmed absent: not found by 6 scheduled look-ups from .* lacks it/);
  expect(summary.resubmitted).toBe(1);
  expect(kinds).toEqual([]);
  const told = await ledger.db.selectFrom('history').selectAll().where('payout_id', '=', id).execute();
  expect(told.at(-1)).toMatchObject({ event: 'retry', source: 'confirmed_absent', to_state: 'ready' });
});

it('P16, P31: asked once more before the POST; what is found then is not sent', async () => {
  await follow(0, 3 * hour);
  await night();
  const order = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };
  sandbox.book.plant({ reference: 'R-1', ...order });
  await senderOf(ledger, client, { clock }).run();
  expect(sandbox.requests.posts).toBe(0);
  expect((await payoutById(ledger, id)).state).toBe('success');
});

it('P16: never a second automatic resend', async () => {
  await follow(0, 3 * hour);
  await night();
  await send(4 * hour, replies.unknown());
  await follow(4 * hour, 8 * hour);
  const { payout, summary } = await night({ ms: 9 * hour });
  expect(payout).toMatchObject({ state: 'unknown', auto_resends: 1n });
  expect(summary.resubmitted).toBeUndefined();
});

it('P16: with `manual`, or without --full, nothing is ever resent by itself', async () => {
  await follow(0, 3 * hour);
  expect((await night({ submission: '{ quiet_period_minutes: 180 }' })).payout.state).toBe('unknown');
  expect((await night({ full: false })).payout.state).toBe('unknown');
  expect((await night()).payout.state).toBe('ready');
});

it('P16: what was turned away before its answer was lost was sent twice, which leaves it to a person', async () => {
  const [twice = 0n] = await addBatch(ledger, ['R-9'], { id: 'b-9', account_number: '0123456780' });
  await send(0, replies.turnedAway());
  await send(minute, replies.unknown());
  await follow(minute, 4 * hour);
  const { payout } = await night({ ms: 5 * hour });
  expect([payout.state, (await payoutById(ledger, twice)).state]).toEqual(['ready', 'unknown']);
});

it('P16: a stranger of its account and amount may be it, unless it was created more than a day before', async () => {
  await follow(0, 3 * hour);
  expect((await night({ rows: [{ id: '99', created_at: 'soon' }] })).payout.state).toBe('unknown');
  expect((await night({ rows: [{ id: '99', created_at: at(-hour) }] })).payout.state).toBe('unknown');
  expect((await night({ rows: [{ id: '99', created_at: at(-25 * hour) }] })).payout.state).toBe('ready');
});

it('P16: look-ups asked out of turn are no rungs of the ladder', async () => {
  for (let i = 0; i < 9; i++) await lookUps().lookUp([id]);
  await follow(0, 2 * hour);
  expect((await night()).payout.state).toBe('unknown');
});

it('P16: a daemon that stood still waits longer, and skips no rung', async () => {
  await follow(0, 60 * minute);
  await follow(20 * hour, 20 * hour);
  expect((await night({ ms: 20 * hour + 1 })).payout.state).toBe('unknown');
  await follow(20 * hour, 21 * hour);
  expect((await night({ ms: 21 * hour + 1 })).payout.state).toBe('ready');
});

it('P16: a key that no longer sees what is present proves nothing', async () => {
  const known = sandbox.book.find('R-0')[0];
  if (known) sandbox.book.remove(known.id);
  await follow(0, 3 * hour);
  expect((await night()).payout.state).toBe('unknown');
});

it('P16, P31: the list of another address or key lacks it, until it shows what was sent from the first', async () => {
  await follow(0, 3 * hour);
  const first = await recordStandpoint(
    ledger,
    accountOf('https://one.test', keys('sk_one'), 'secret') ?? here.account,
  );
  const second = await recordStandpoint(
    ledger,
    accountOf('https://two.test', keys('sk_two'), 'secret') ?? here.account,
  );
  await ledger.db.updateTable('attempts').set({ origin_id: first.originId }).execute();
  const about = { full: true, submission: quiet, standpoint: second };
  const stranger = [listedTransfer('OTHER', { id: '99', amount: '7.00', created_at: at(-hour) })];
  const moved = await nightOf(ledger, { ...about, at: 4 * hour, rows: stranger });
  expect([moved.summary.resubmitted, (await payoutById(ledger, id)).state]).toEqual([undefined, 'unknown']);
  const own = await nightOf(ledger, { ...about, at: 5 * hour, rows: [neighbour] });
  expect(own.summary.resubmitted, 'it shows R-0: both are one account').toBe(1);
});

it('P16: a webhook that names it, even one that conflicts, leaves it to a person', async () => {
  await follow(0, 3 * hour);
  await deliver(ledger, { amount: '9.00' });
  expect((await night()).payout.state).toBe('unknown');
});

it('P16: a webhook that names it in other letters, not applied yet, leaves it to a person', async () => {
  await follow(0, 3 * hour);
  await deliver(ledger, { reference: 'r-1', amount: '9.00' });
  expect((await night()).payout.state).toBe('unknown');
});

it('P16: a webhook about its account and amount under a name of the service’s own leaves it to a person', async () => {
  await follow(0, hour);
  await deliver(ledger, { reference: 'SVC-00017', trx: 'X9' });
  await applyWebhooks({ ledger, clock });
  await follow(hour + minute, 3 * hour);
  expect((await night()).payout.state).toBe('unknown');
});

it('P16: a webhook about another amount under nobody’s name has nothing to do with it', async () => {
  await follow(0, hour);
  await deliver(ledger, { reference: 'SVC-00017', trx: 'X9', amount: '1490.00' });
  await applyWebhooks({ ledger, clock });
  await follow(hour + minute, 3 * hour);
  expect((await night()).payout.state).toBe('ready');
});

it.each([
  ['that nobody ordered', { reference: 'SERVICE-OWN' }],
  ['without a reference', { reference: '' }],
  ['whose account lost its zero', { reference: '', account_number: '123456789' }],
  ['without an account', { reference: '', account_number: '' }],
  ['without an amount', { reference: '', amount: '' }],
])('P16: a listed transfer %s that may be it leaves it to a person', async (_, shown) => {
  await follow(0, 3 * hour);
  expect((await night({ rows: [{ id: '99', ...shown }] })).payout.state).toBe('unknown');
});

it('P16: what an adopted ledger knew as unknown may have been sent again since, and is for a person', async () => {
  const event = { kind: 'adopted' as const, since: at(0), why: 'restored' };
  await ledger.write((trx) => record(trx, at(1), [{ payoutId: id, source: 'restore', event }]));
  await follow(0, 3 * hour);
  expect((await night()).payout.state).toBe('unknown');
});

it('P16: a person’s retry leaves it to a person for good', async () => {
  const event = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'a person' };
  await ledger.write((trx) => record(trx, at(1), [{ payoutId: id, source: 'person:ada', event }]));
  await send(2, replies.unknown());
  await follow(0, 4 * hour);
  expect((await night({ ms: 5 * hour })).payout.state).toBe('unknown');
});

it('P16: it waits on hold when its batch is on hold', async () => {
  await follow(0, 3 * hour);
  await ledger.db
    .updateTable('batches')
    .set({ hold_reasons: '[{"kind":"person"}]' })
    .where('id', '=', 'b-1')
    .execute();
  expect((await night()).payout.state).toBe('held');
});

it('P21: nothing of a cancelled batch is resent by itself; it stays unknown, for a person to close', async () => {
  await follow(0, 3 * hour);
  const order = { batch: 'b-1', source: 'person:ada', why: 'wrong month' };
  await cancelUnsent(ledger, { ...order, at: at(3 * hour) });
  const { payout, summary } = await night();
  expect(payout).toMatchObject({ state: 'unknown', auto_resends: 0n });
  expect(summary.resubmitted).toBeUndefined();
  await lookUps().askDue({ budget: 9 });
  expect(await claimAt(ledger, at(4 * hour + 5_000), 5)).toEqual([]);
  const settle = { kind: 'settle' as const, as: 'failed' as const, note: 'never arrived' };
  await ledger.write((trx) => record(trx, at(5 * hour), [{ payoutId: id, source: 'person', event: settle }]));
  expect((await payoutById(ledger, id)).state).toBe('failed');
});

it('P25: a ledger that went back in time orders nothing once more, since it may have done so already', async () => {
  await follow(0, 3 * hour);
  await ledger.write((trx) =>
    raiseBarrier(trx, barrierKeys.behind, { at: at(0), why: 'restored', advice: null }),
  );
  const { payout, summary } = await night();
  expect(payout).toMatchObject({ state: 'unknown', auto_resends: 0n });
  expect(summary.resubmitted).toBeUndefined();
});

it('P16, P23: what another file has paid since is left to a person', async () => {
  const [paid = 0n] = await addBatch(ledger, ['R-5'], { id: 'b-5' });
  await send(minute, replies.accepted('99'));
  await ledger.db.updateTable('payouts').set({ state: 'success' }).where('id', '=', paid).execute();
  await follow(0, 3 * hour);
  const { payout, summary } = await night();
  expect([payout.state, summary.resubmitted]).toEqual(['unknown', undefined]);
});
