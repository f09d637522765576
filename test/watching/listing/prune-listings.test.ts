import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { pruneListings } from '../../../src/watching/listing/prune-listings.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedTransfer } from '../../books/discrepancies/setting.ts';
import { at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

/** A run that read these transfers, at this origin; `standing`: what its list proved. */
async function read(
  transfers: string[],
  standing: 'complete' | 'incomplete',
  originId = 1n,
): Promise<string> {
  const run = await ledger.write((trx) => beginRun(trx, at(0), originId));
  await ledger.write((trx) =>
    stage(
      trx,
      run,
      1,
      transfers.map((id) => listedTransfer(id)),
    ),
  );
  await ledger.db
    .updateTable('runs')
    .set({ finished_at: at(1), list_standing: standing })
    .where('id', '=', run)
    .execute();
  return run;
}

async function kept(): Promise<string[]> {
  const rows = await ledger.db.selectFrom('listed').select('transfer_id').orderBy('transfer_id').execute();
  return rows.map((row) => row.transfer_id);
}

it('P15: drops a row of an unproven list once a later list shows the same transfer, and no other row', async () => {
  await read(['A', 'B'], 'incomplete');
  await read(['B', 'C'], 'incomplete');
  await read([], 'incomplete');
  await pruneListings(ledger, 1, []);
  expect(await kept()).toEqual(['T-A', 'T-B', 'T-C']);
  await read(['A', 'B'], 'complete');
  await pruneListings(ledger, 1, []);
  expect(await kept(), 'a complete list replaces them all').toEqual(['T-A', 'T-B']);
});

it('P31: a list of another account replaces no row', async () => {
  await read(['A'], 'incomplete', 1n);
  await read(['A'], 'incomplete', 2n);
  await read([], 'incomplete', 2n);
  await pruneListings(ledger, 1, []);
  expect(await kept()).toEqual(['T-A', 'T-A']);
});
