import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../../src/core/ledger/record.ts';
import { findAttention } from '../../../src/sending/attention.sql.ts';
import { cancelUnsent } from '../../../src/sending/decisions/cancel-unsent.sql.ts';
import { holdBatch, releaseBatch } from '../../../src/sending/holds.sql.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

/** A reading of the service's list that shows these references. */
async function list(...references: string[]): Promise<void> {
  await listAs('success', references);
}

async function listAs(status: string, references: string[], originId = 0n): Promise<string> {
  const transfers = references.map((reference, i) => ({
    id: String(i + 7),
    trx: `T${i + 7}`,
    reference,
    currency: 'NGN',
    amount: '1500.00',
    fee: null,
    account_name: 'ADA OBI',
    account_number: '0123456789',
    bank_code: '000013',
    domain: 'test',
    status,
    created_at: at(0),
    updated_at: at(0),
  }));
  const run = await ledger.write((trx) => beginRun(trx, at(0), originId));
  await ledger.write((trx) => stage(trx, run, 1, transfers));
  return run;
}

/** A complete list that an account showed. */
async function listWhole(originId: bigint, references: string[]): Promise<void> {
  const run = await listAs('pending', references, originId);
  const whole = { finished_at: at(1), list_standing: 'complete' as const };
  await ledger.db.updateTable('runs').set(whole).where('id', '=', run).execute();
}
const batch = { batch: 'b-1', at: at(20) };

it('P15: a payout never sent from here whose reference the list shows is held instead of sent', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  await list('r-1');
  expect((await claimAt(ledger, at(10), 5)).map((claim) => claim.reference)).toEqual(['R-2']);
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'sending' });
});

it('P15: a payout never sent from here is held whatever the list shows under its reference, a failure too', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  await listAs('failed', ['R-1']);
  expect((await claimAt(ledger, at(10), 5)).map((claim) => claim.reference)).toEqual(['R-2']);
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'sending' });
});

it.each([
  ['that was turned away', true, 'unknown'],
  ['that was never sent', false, 'held'],
])(
  'P15, P31: a payout %s is not sent while the list of its own account shows it, whatever lists of others came since',
  async (_, sent, kept) => {
    await addBatch(ledger, ['R-1'], { id: 'b-1' });
    if (sent) {
      const [claim] = await claimAt(ledger, at(0));
      if (claim) await recordOutcome(ledger, at(0), claim, replies.unknown());
      const decided = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: '' };
      await ledger.write((trx) =>
        record(trx, at(1), [{ payoutId: claim?.payoutId ?? 0n, source: 'person', event: decided }]),
      );
    }
    await listWhole(0n, ['R-1']);
    for (let n = 0; n < 5; n++) await listWhole(7n, ['OTHER']);
    expect(await claimAt(ledger, at(10), 5)).toEqual([]);
    expect(await states(ledger)).toEqual({ 'R-1': kept });
  },
);

it('P21: a release that changes nothing writes nothing', async () => {
  const [first = 0n] = await addBatch(ledger, ['R-1'], { id: 'first' });
  await addBatch(ledger, ['R-1-2'], { state: 'held', successor_of: first });
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 0, kept: 1 });
  const before = await ledger.db.selectFrom('history').selectAll().execute();
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 0, kept: 1 });
  expect(await ledger.db.selectFrom('history').selectAll().execute()).toEqual(before);
});

it('P15: what was held since the service shows it says so, stays held when its batch is released, and is not cancelled', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  await list('R-1');
  await claimAt(ledger, at(10), 1);
  const { withheld } = await findAttention(ledger.db);
  expect(withheld).toMatchObject({
    count: 1,
    first: [{ batch: 'b-1', reference: 'R-1', why: expect.stringMatching(/shows a transfer under R-1/) }],
  });
  await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
  expect(await releaseBatch(ledger, batch)).toMatchObject({
    moved: 1,
    kept: 1,
    first: [{ reference: 'R-1', advice: { kind: 'find_orderer', reference: 'R-1' } }],
  });
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'ready' });
  const said = { ...batch, source: 'person:ada', why: 'cancelled by ada' };
  expect(await cancelUnsent(ledger, said)).toMatchObject({ cancelled: 1, withdrawn: 0, listed: 1 });
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'cancelled' });
});

it('P15: a payout that a person held is not released once the service shows it, and then names its own reason', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
  expect((await findAttention(ledger.db)).withheld.count, 'a person knows why').toBe(0);
  await list('R-2');
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 1, kept: 1 });
  expect((await findAttention(ledger.db, ['b-1'])).withheld).toMatchObject({
    count: 1,
    first: [{ reference: 'R-2' }],
  });
  const before = await ledger.db.selectFrom('history').selectAll().execute();
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 0, kept: 1 });
  expect(await ledger.db.selectFrom('history').selectAll().execute(), 'nothing new').toEqual(before);
});

it('P21: releasing goes over more payouts than a transaction holds, past those that stay', async () => {
  const names = Array.from({ length: 2101 }, (_, i) => `R-${i + 1}`);
  await addBatch(ledger, names, { state: 'held' });
  await list('R-1', 'R-1001', 'R-2101');
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 2098, kept: 3 });
  const counts = Object.groupBy(Object.values(await states(ledger)), (state) => state);
  expect([counts.ready?.length, counts.held?.length]).toEqual([2098, 3]);
});
