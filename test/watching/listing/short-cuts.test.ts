import { expect, it } from 'vitest';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import {
  missedByShortCuts,
  noteListing,
  olderRows,
  openBefore,
  trustedBase,
} from '../../../src/watching/listing/short-cuts.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import { addBatch, at, makeLedger } from '../../support/ledger.ts';

it('P29: a complete listing of a version that noted no order is no base for a short cut', async () => {
  const ledger = await makeLedger();
  await nightOf(ledger, { at: 60_000, rows: [listedTransfer('R-1')], full: true });
  expect(await trustedBase(ledger.db, [])).toBeUndefined();
  const order = 'newest_first' as const;
  const run = await nightOf(ledger, {
    at: 120_000,
    rows: [listedTransfer('R-1')],
    full: true,
    listing: { order },
  });
  expect(await trustedBase(ledger.db, [])).toEqual({ run: run.summary.run, order, cut: at(120_000) });
  await ledger.remove();
});

it('P29: payouts that were never sent keep no edge back', async () => {
  const ledger = await makeLedger();
  await addBatch(ledger, ['R-1']);
  expect(await openBefore(ledger.db, at(1_000), 10)).toEqual([]);
  await ledger.remove();
});

it('P29: a long list is counted whole: what is older than the edge, and what a short cut should have shown', async () => {
  const ledger = await makeLedger();
  const rows = Array.from({ length: 12_000 }, (_, n) =>
    listedTransfer(`R-${n}`, { id: `${n}`, created_at: at(n * 1_000) }),
  );
  const order = 'newest_first' as const;
  const base = await nightOf(ledger, { at: 60_000, rows: rows.slice(0, 1), full: true, listing: { order } });
  const run = await ledger.write((trx) => beginRun(trx, at(90_000_000)));
  const shortCut = await ledger.write((trx) => beginRun(trx, at(91_000_000)));
  await ledger.write((trx) => stage(trx, run, 1, rows));
  expect(await olderRows(ledger.db, run, at(11_500_000))).toBe(11_500);
  expect(await olderRows(ledger.db, run, at(11_500_000), at(500_000))).toBe(11_000);
  expect(await olderRows(ledger.db, base.summary.run, at(1))).toBe(1);
  const window = { edge: at(2_000_000), base: base.summary.run };
  const listing = { complete: 'window' as const, passes: 2, listed: 0, cut: at(11_000_000), window };
  await ledger.write(async (trx) => {
    await stage(trx, shortCut, 1, rows.slice(0, 11_000));
    await noteListing(
      trx,
      shortCut,
      { ...listing, oldestCreatedAt: null, otherDomainSeen: false },
      undefined,
    );
    await trx
      .updateTable('runs')
      .set({ finished_at: at(92_000_000) })
      .where('id', '=', shortCut)
      .execute();
  });
  // Created at the very instant of its cut, and not in it.
  expect(await missedByShortCuts(ledger.db, run, [])).toBe(1);
  await ledger.db
    .deleteFrom('listed')
    .where('run_id', '=', shortCut)
    .where('transfer_id', 'like', '5%')
    .execute();
  expect(await missedByShortCuts(ledger.db, run, [])).toBe(1_001);
  await ledger.remove();
});
