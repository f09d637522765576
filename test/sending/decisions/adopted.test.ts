import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createDecisions } from '../../../src/sending/decisions/decisions.ts';
import { rowFaultText } from '../../../src/words/row-fault-words.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import { adoptGoneBack } from '../../custody/adoption.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);

function decisionsAt(ms: number, referencePrefix: string) {
  const clock = { ...systemClock(), now: () => Date.parse(at(ms)), iso: () => at(ms) };
  return createDecisions({
    ledger,
    clock,
    rules: { referencePrefix, payoutLimit: {} },
    say: rowFaultText,
  });
}

/** Orders F again with this prefix, a look-up of an hour ago being fresh, and returns why not, and what would be sent. */
async function orderAgain(id: bigint, ms: number, prefix: string) {
  const decisions = decisionsAt(ms, prefix);
  const { cases, digest } = await decisions.weigh([id], at(ms - hour));
  await decisions.retry({ ids: [id], since: at(ms - hour), digest, person: 'ada' });
  const sent = (await claimAt(ledger, at(ms + 1), 5)).map(({ reference }) => reference);
  return { judgement: cases[0]?.judgement, sent };
}

const own = (status: string) =>
  listedTransfer('F', { id: 'T-1', status, created_at: at(50), updated_at: at(60) });
/** What the lost copy paid: a file has mended the account. */
const paidByLost = listedTransfer('F-R2', { created_at: at(5000), account_number: '0999999999' });

it.each(['', 'ACME-'])(
  'P25: what was under way in the copy and fails later may have been paid again by the lost one; the prefix is now "%s"',
  async (prefix) => {
    const id = await told.sent(replies.accepted('T-1'));
    ledger = await adoptGoneBack(ledger, 10_000);
    for (const ms of [hour, 2 * hour])
      await nightOf(ledger, { at: ms, rows: [own('failed'), paidByLost], full: true, details: 'failed' });
    await told.looked(id, 2.5 * hour, shown('failed'));
    expect((await payoutById(ledger, id)).state).toBe('failed');
    const { judgement, sent } = await orderAgain(id, 3 * hour, prefix);
    expect(judgement).toMatchObject({ kind: 'no', why: expect.stringMatching(/the list shows F-R2, which/) });
    expect(sent).toEqual([]);
  },
);

it('P25: so may what came back in the copy, and nobody knows before a complete list was read', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('success'));
  await told.looked(id, 2000, shown('returned'));
  ledger = await adoptGoneBack(ledger, 10_000);
  expect(await told.judged(id, hour)).toMatchObject({ why: expect.stringMatching(/went back in time/) });
  await nightOf(ledger, { at: 2 * hour, rows: [own('returned'), paidByLost], full: true });
  expect((await orderAgain(id, 3 * hour, 'ACME-')).sent).toEqual([]);
});

it('P25: what the list clears is paid again, and what came in since the adoption waits for no list', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  ledger = await adoptGoneBack(ledger, 10_000);
  await nightOf(ledger, { at: hour, rows: [own('failed')], full: true, details: 'failed' });
  await nightOf(ledger, { at: 2 * hour, rows: [own('failed')], full: true, details: 'failed' });
  await told.looked(id, 2.5 * hour, shown('failed'));
  expect((await orderAgain(id, 3 * hour, '')).sent).toEqual(['F-R2']);
  const [later = 0n] = await addBatch(ledger, ['G'], { id: 'b-2', state: 'refused' });
  const { cases } = await decisionsAt(4 * hour, '').weigh([id, later], at(0));
  expect(cases.map(({ adoptedAt }) => adoptedAt)).toEqual([at(10_000), null]);
});
