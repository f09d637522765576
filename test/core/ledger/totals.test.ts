import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { payeeKeysOf } from '../../../src/core/domain/payee-name.ts';
import {
  finishSome,
  getBatch,
  insertBatch,
  insertPayouts,
  type LoadedRow,
} from '../../../src/core/ledger/batches.ts';
import { abandonClaims } from '../../../src/sending/claims.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
});

/** The kept totals that are not zero, as `batch state count amount`. */
async function totals(): Promise<string[]> {
  const rows = await ledger.db
    .selectFrom('payout_totals')
    .selectAll()
    .orderBy('batch_id')
    .orderBy('state')
    .execute();
  return rows
    .filter(({ n, amount }) => n !== 0n || amount !== 0n)
    .map(({ batch_id, state, n, amount }) => `${batch_id} ${state} ${n} ${amount}`);
}

async function outcomes(): Promise<Record<string, number>> {
  const rows = await ledger.db.selectFrom('attempt_totals').selectAll().execute();
  return Object.fromEntries(rows.flatMap(({ outcome, n }) => (n === 0n ? [] : [[outcome, Number(n)]])));
}

it('follows every payout from state to state, by batch', async () => {
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  await addBatch(ledger, ['S-1'], { id: 'b-2', state: 'held', amount: 7n });
  expect(await totals()).toEqual(['b-1 ready 3 450000', 'b-2 held 1 7']);
  const [one, two] = await claimAt(ledger, at(0), 2);
  if (!one || !two) throw new Error('nothing was claimed');
  expect(await totals()).toEqual(['b-1 ready 1 150000', 'b-1 sending 2 300000', 'b-2 held 1 7']);
  await recordOutcome(ledger, at(1), one, replies.accepted());
  await recordOutcome(ledger, at(1), two, replies.refused());
  expect(await totals()).toEqual([
    'b-1 pending 1 150000',
    'b-1 ready 1 150000',
    'b-1 refused 1 150000',
    'b-2 held 1 7',
  ]);
  expect(await outcomes()).toEqual({ accepted: 1, refused: 1 });
});

it('P4: counts an attempt whose answer came late once, under what the answer says', async () => {
  await addBatch(ledger, ['R-1']);
  const [one] = await claimAt(ledger, at(0));
  if (!one) throw new Error('nothing was claimed');
  await ledger.write((trx) => abandonClaims(trx, 'w-1', at(1)));
  expect(await outcomes()).toEqual({ unknown: 1 });
  await recordOutcome(ledger, at(2), one, replies.accepted());
  expect(await outcomes()).toEqual({ accepted: 1 });
  expect(await totals()).toEqual(['b-1 pending 1 150000']);
});

it('counts the rows of a batch when its history begins, and not while they may vanish', async () => {
  const loading = {
    name: 'b',
    file_name: 'b.csv',
    columns: '[]',
    delimiter: ',',
    created_at: at(0),
    dropped_by: 'ada',
  };
  await ledger.write(async (trx) => {
    await insertBatch(trx, { ...loading, id: 'b-3', content_hash: 'h', row_count: 2n });
    await insertPayouts(trx, 'b-3', at(0), [loadedRow(2n, 'L-1'), loadedRow(3n, 'L-2')]);
  });
  expect(await totals()).toEqual([]);
  const batch = await getBatch(ledger.db, 'b-3');
  if (!batch) throw new Error('there is no batch');
  await ledger.write((trx) => finishSome(trx, batch, at(1), 1));
  expect(await totals()).toEqual(['b-3 ready 1 100']);
  await ledger.write((trx) => finishSome(trx, batch, at(2), 10));
  expect(await totals()).toEqual(['b-3 ready 2 200']);
});

const loadedRow = (row: bigint, reference: string): LoadedRow => ({
  row_number: row,
  reference,
  reference_key: reference.toLowerCase(),
  account_number: '0123456789',
  account_name: 'ADA OBI',
  bank_code: '000013',
  amount: 100n,
  currency: 'NGN',
  narration: 'Salary',
  sender_name: 'Acme',
  type: null,
  body: '{}',
  cells: '[]',
  pay_on: '',
  payee_id: '',
  ...payeeKeysOf({ account_name: 'ADA OBI', payee_id: '' }),
});
