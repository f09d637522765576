import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { foreignRows, pairListed } from '../../../src/watching/listing/pairing.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedTransfer } from '../../books/discrepancies/setting.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function stageRows(rows: ReturnType<typeof listedTransfer>[]): Promise<string> {
  const run = await ledger.write((trx) => beginRun(trx, at(9)));
  await ledger.write((trx) => stage(trx, run, 1, rows));
  return run;
}

function paired(run: string) {
  return ledger.db
    .selectFrom('listed')
    .select(['reference', 'payout_id'])
    .where('run_id', '=', run)
    .orderBy('reference')
    .execute();
}

it('a listed transfer is staged with the payout that its reference names, else its transfer id, else its trx', async () => {
  const [one = 0n, two = 0n, three = 0n] = await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  await ledger.db.updateTable('payouts').set({ transfer_id: '77' }).where('id', '=', two).execute();
  await ledger.db.updateTable('payouts').set({ trx: 'T-3' }).where('id', '=', three).execute();
  const run = await stageRows([
    // Its reference says more than its trx.
    listedTransfer('r-1', { id: '1', trx: 'T-3' }),
    listedTransfer('S-2', { id: '77', trx: 'T-3' }),
    listedTransfer('S-3', { id: '3', trx: 'T-3' }),
    listedTransfer('S-4', { id: '4', trx: null }),
  ]);
  expect(await paired(run)).toEqual([
    { reference: 'S-2', payout_id: two },
    { reference: 'S-3', payout_id: three },
    { reference: 'S-4', payout_id: null },
    { reference: 'r-1', payout_id: one },
  ]);
  expect(await pairListed(ledger, run)).toBe(3);
});

it('what a look-up taught since the row was staged pairs it later', async () => {
  const [one = 0n] = await addBatch(ledger, ['R-1']);
  const run = await stageRows([
    listedTransfer('S-1', { id: '9', trx: 'T-9' }),
    listedTransfer('S-2', { id: '8' }),
  ]);
  expect(await pairListed(ledger, run)).toBe(0);
  await ledger.db.updateTable('payouts').set({ trx: 'T-9' }).where('id', '=', one).execute();
  expect(await pairListed(ledger, run)).toBe(1);
  expect(await paired(run)).toEqual([
    { reference: 'S-1', payout_id: one },
    { reference: 'S-2', payout_id: null },
  ]);
});

it('what was learnt of many payouts pairs each with its own row', async () => {
  const names = Array.from({ length: 250 }, (_, n) => `R-${n}`);
  const run = await stageRows(names.map((_, n) => listedTransfer(`S-${n}`, { id: `${n}`, trx: `T-${n}` })));
  const ids = await addBatch(ledger, names);
  for (const [n, id] of ids.entries())
    await ledger.db
      .updateTable('payouts')
      .set({ trx: `T-${n}` })
      .where('id', '=', id)
      .execute();
  expect(await pairListed(ledger, run)).toBe(250);
  const rows = await paired(run);
  expect(
    rows.map(({ reference, payout_id }) => ids.indexOf(payout_id ?? 0n) === Number(reference.slice(2))),
  ).toEqual(rows.map(() => true));
});

it('transfers that nobody here ordered come some at a time, none left out, however old those between them are', async () => {
  const rows = Array.from({ length: 12 }, (_, n) =>
    listedTransfer(`S-${n}`, {
      id: `${100 + n}`,
      created_at: n > 2 && n < 9 ? '2020-01-01T00:00:00Z' : '2026-11-21T10:00:00Z',
    }),
  );
  const run = await stageRows(rows);
  const shown: string[] = [];
  for await (const some of foreignRows(ledger.db, run, '2026-01-01T00:00:00.000Z', 2))
    for (const { reference } of some) shown.push(reference);
  expect(shown).toEqual(['S-0', 'S-1', 'S-2', 'S-9', 'S-10', 'S-11']);
});
