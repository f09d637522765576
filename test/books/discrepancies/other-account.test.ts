import { afterEach, beforeEach, expect, it } from 'vitest';
import { lastRun, setVerdicts } from '../../../src/books/run-verdicts.sql.ts';
import { accountOf, type Standpoint } from '../../../src/core/domain/origin.ts';
import { foreignOrigins, recordStandpoint } from '../../../src/core/ledger/origins.ts';
import { weigh } from '../../../src/watching/evidence/weigh.ts';
import { trustedBase } from '../../../src/watching/listing/short-cuts.sql.ts';
import { here } from '../../sending/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { listedTransfer, nightOf } from './setting.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
let ledger: TestLedger;
let elsewhere: Standpoint;
let sender: Standpoint;
beforeEach(async () => {
  ledger = await makeLedger();
  const keys = { secretKeys: ['sk_test_other'], encryptionKeys: [] };
  const account = accountOf('http://other.example', keys, 'secret');
  if (!account) throw new Error('no account');
  sender = await recordStandpoint(ledger, here.account);
  elsewhere = await recordStandpoint(ledger, account);
  await addBatch(ledger, ['R-1']);
});
afterEach(async () => {
  await ledger.remove();
});

async function sendAt(ms: number): Promise<void> {
  for (const claim of await claimAt(ledger, at(ms), 1))
    await recordOutcome(ledger, at(ms + 1), claim, replies.accepted('T-R-1'));
  await ledger.db.updateTable('attempts').set({ origin_id: sender.originId }).execute();
}

for (const [words, ms] of [
  ['', 0],
  [' under a clock a year ahead', year],
] as const)
  it(`P31: a pending payout that was sent to another account${words} is stale, not missing, and its action names that account`, async () => {
    await sendAt(ms);
    const kinds: string[][] = [];
    for (const night of [1, 2, 3])
      kinds.push((await nightOf(ledger, { at: night * day + hour, standpoint: elsewhere })).kinds);
    expect(kinds.at(-1)).toEqual(['stale_pending R-1']);
    expect(kinds.flat().filter((kind) => !kind.startsWith('stale_pending'))).toEqual([]);
    const { open } = await nightOf(ledger, { at: 4 * day, standpoint: elsewhere });
    expect(open[0]?.action).toContain('this configuration asks http://other.example');
  });

/** R-1 ended unknown at the sender's account; R-2 was accepted at the other one. */
async function bothUsed(): Promise<bigint> {
  const [first] = await claimAt(ledger, at(0), 1);
  if (!first) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(1), first, replies.unknown());
  await ledger.db.updateTable('attempts').set({ origin_id: sender.originId }).execute();
  await addBatch(ledger, ['R-2'], { id: 'b-2' });
  for (const claim of await claimAt(ledger, at(2), 1))
    await recordOutcome(ledger, at(3), claim, replies.accepted('T-R-2'));
  await ledger.db
    .updateTable('attempts')
    .set({ origin_id: elsewhere.originId })
    .where('payout_id', '<>', first.payoutId)
    .execute();
  return first.payoutId;
}

const stranger = listedTransfer('WHO', { id: 'T-9', account_number: '9' });
const atOther = { rows: [listedTransfer('R-2')], full: true };

it('P31: the complete list of another account is not the one that a decision about this one rests on', async () => {
  const id = await bothUsed();
  const own = { at: hour, standpoint: sender, full: true, rows: [stranger, listedTransfer('R-1')] };
  const { summary } = await nightOf(ledger, { ...own, listing: { order: 'newest_first' } });
  // As many as make the earlier rows go, were they not kept for their own account.
  for (const n of [2, 3, 4, 5, 6]) await nightOf(ledger, { ...atOther, at: n * hour, standpoint: elsewhere });
  const asked = { mode: 'test' as const, ids: [id], since: at(0) };
  const [one] = (await weigh(ledger.db, { ...asked, account: sender.account })).cases;
  expect(one?.listing).toMatchObject({ run: summary.run, statuses: ['success'] });
  const [other] = (await weigh(ledger.db, { ...asked, account: elsewhere.account })).cases;
  expect(other?.listing?.run).not.toBe(summary.run);
  const foreign = await foreignOrigins(ledger.db, sender.account);
  expect(await trustedBase(ledger.db, foreign), 'nor the base of a short cut').toMatchObject({
    run: summary.run,
  });
});

it('P31: without a complete list of its own account a payout has none, whatever another account listed', async () => {
  const id = await bothUsed();
  await nightOf(ledger, { ...atOther, at: hour, standpoint: elsewhere });
  const asked = { mode: 'test' as const, ids: [id], since: at(0) };
  const [one] = (await weigh(ledger.db, { ...asked, account: sender.account })).cases;
  expect(one?.listing).toBeNull();
});

it('P31: what the list of one account showed is not closed because that of another lacks it', async () => {
  await bothUsed();
  const own = { at: hour, standpoint: sender, full: true };
  const first = await nightOf(ledger, { ...own, rows: [listedTransfer('R-1'), stranger] });
  expect(first.kinds).toContain('missing_in_ledger WHO');
  const second = await nightOf(ledger, { ...atOther, at: 2 * hour, standpoint: elsewhere });
  expect(second.summary.list).toBe('complete');
  expect(second.kinds).toContain('missing_in_ledger WHO');
  const third = await nightOf(ledger, { ...own, at: 3 * hour, rows: [listedTransfer('R-1')] });
  expect(third.kinds).not.toContain('missing_in_ledger WHO');
});

it('P31: the last run of status is the last at the account that is asked now', async () => {
  await bothUsed();
  const own = await nightOf(ledger, { at: hour, standpoint: sender, rows: [listedTransfer('R-1')] });
  const other = await nightOf(ledger, { ...atOther, at: 2 * hour, standpoint: elsewhere });
  for (const { summary } of [own, other])
    await ledger.write((trx) => setVerdicts(trx, summary.run, { whole: 'reconciled', currencies: [] }));
  const lastAt = async ({ account }: Standpoint) =>
    (await lastRun(ledger.db, await foreignOrigins(ledger.db, account)))?.run;
  expect(await lastAt(sender)).toBe(own.summary.run);
  expect(await lastAt(elsewhere)).toBe(other.summary.run);
  const third = accountOf(
    'http://third.example',
    { secretKeys: ['sk_test_third'], encryptionKeys: [] },
    'secret',
  );
  if (third) expect(await lastAt(await recordStandpoint(ledger, third))).toBeUndefined();
});
