import { afterEach, beforeEach, expect, it } from 'vitest';
import { listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { conflictingWebhooks } from '../../../src/watching/evidence/conflicting-webhooks.sql.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { createTold, shown } from '../../sending/decisions/told.ts';
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
import { deliver, handClock } from '../../watching/lookups/setting.ts';
import { listedTransfer, nightOf, sendAll } from './setting.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const night = async (ms: number, status: string) => {
  const row = listedTransfer('F', { id: 'T-1', status, created_at: at(50) });
  return (await nightOf(ledger, { at: ms, rows: [row], full: true })).kinds;
};

async function paid(): Promise<bigint> {
  const id = await told.sent(replies.accepted('T-1'));
  await told.heard(1000, 'success');
  await told.looked(id, 2000, shown('success'));
  return id;
}

it('P18: a webhook that told first of a return is no contradiction once the details show it (a false alarm)', async () => {
  const id = await paid();
  await told.heard(3000, 'returned');
  await told.looked(id, 4000, shown('returned'));
  expect(await night(10_000, 'returned')).toEqual(['returned_after_success F']);
});

it('P18: a webhook that nothing else bears out is a contradiction', async () => {
  const id = await paid();
  await told.heard(3000, 'returned');
  await told.looked(id, 4000, shown('success'));
  expect(await night(10_000, 'success')).toEqual(['webhook_conflict F']);
});

it('P18: all that several webhooks of a payout contradict is told, in one discrepancy', async () => {
  await paid();
  await told.heard(3000, 'success', { amount: '1.00' });
  await told.heard(4000, 'success', { account_number: '9999999999' });
  await told.heard(5000, 'success', { amount: '1.00', note: 'again' });
  expect(await night(10_000, 'success')).toEqual(['webhook_conflict F']);
  const [found] = await listOpen(ledger.db, {});
  expect(found).toMatchObject({
    expected: 'amount 1500.00, then account_number 0123456789',
    actual: 'amount 1.00, then account_number 9999999999',
    evidence: [3000, 4000, 5000].map((ms) => `webhook received ${at(ms)}`).join(', '),
  });
});

it('P18: those of one payout stay together however many are read at once (an acknowledgement that never held)', async () => {
  await paid();
  for (const ms of [3000, 4000, 5000]) await told.heard(ms, 'success', { amount: `${ms}.00` });
  const read: string[][] = [];
  for await (const some of conflictingWebhooks(ledger.db, '', 1))
    for (const own of some) read.push(own.map(({ received_at }) => received_at));
  expect(read).toEqual([[at(3000), at(4000), at(5000)]]);
});

it('P7, P18: a first try that never left hides no contradiction of a webhook', async () => {
  const [id = 0n] = await addBatch(ledger, ['F']);
  for (const outcome of [replies.notSent(), replies.accepted('T-1')]) {
    const [claimed] = await claimAt(ledger, at(0));
    if (claimed) await recordOutcome(ledger, at(100), claimed, outcome);
  }
  await told.heard(1000, 'failed');
  await told.looked(id, 2000, shown('success'));
  expect(await night(10_000, 'success')).toEqual(['webhook_conflict F']);
});

const hour = 3_600_000;

it.each([
  ['failed', 'success', ['webhook_conflict R-1']],
  ['success', 'failed', ['webhook_conflict R-1']],
  ['success', 'success', []],
  ['success', 'reversed', ['returned_after_success R-1']],
])('P18: a webhook that says %s before the list shows %s', async (told, listed, kinds) => {
  await addBatch(ledger, ['R-1', 'R-2']);
  await sendAll(ledger);
  await deliver(ledger, { statusMessage: told });
  await applyWebhooks({ ledger, clock: handClock() });
  const shown = [listedTransfer('R-1', { status: listed }), listedTransfer('R-2')];
  const first = await nightOf(ledger, { at: hour, rows: shown });
  expect(first.kinds).toEqual(kinds);
  const again = await nightOf(ledger, { at: 2 * hour, rows: shown });
  expect(again.kinds, 'once, until a person decides').toEqual(kinds);
  if (kinds[0] === 'webhook_conflict R-1')
    expect((await listOpen(ledger.db, {}))[0]).toMatchObject({
      actual: `webhook says ${told}, the ledger says ${listed}`,
    });
});

it('P32: what a person decided in the knowledge of a webhook is no conflict once the list agrees', async () => {
  const [id = 0n] = await addBatch(ledger, ['F']);
  const [claimed] = await claimAt(ledger, at(0));
  if (claimed) await recordOutcome(ledger, at(100), claimed, replies.accepted('T-1'));
  await told.heard(1000, 'failed');
  const event = { kind: 'settle' as const, as: 'success' as const, note: 'the bank shows it' };
  await ledger.write((trx) => record(trx, at(5000), [{ payoutId: id, source: 'person', event }]));
  expect(await night(10_000, 'success')).toEqual([]);
  const { settled_at } = await payoutById(ledger, id);
  expect(settled_at, 'when the service says, not when the person did').toBe(at(0));
});

it('P18: of several sends a webhook may tell of another than the one that the list shows', async () => {
  await addBatch(ledger, ['R-1']);
  const [claimed] = await claimAt(ledger, at(0));
  if (!claimed) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(1), claimed, replies.unknown());
  await deliver(ledger, { statusMessage: 'failed' });
  await applyWebhooks({ ledger, clock: handClock() });
  const { id: _, ...first } = await ledger.db.selectFrom('attempts').selectAll().executeTakeFirstOrThrow();
  await ledger.db
    .insertInto('attempts')
    .values({ ...first, number: 2n })
    .execute();
  expect((await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] })).kinds).toEqual([]);
});

it('P18: what a webhook writes into a field is quoted, never read as words of ours', async () => {
  await paid();
  await told.heard(3000, 'success', { account_number: '9, ours 0; amount is 1.00' });
  expect(await night(10_000, 'success')).toEqual(['webhook_conflict F']);
  const [found] = await listOpen(ledger.db, {});
  expect(found).toMatchObject({
    expected: 'account_number 0123456789',
    actual: 'account_number 9, ours 0; amount is 1.00',
    difference: '',
  });
});
