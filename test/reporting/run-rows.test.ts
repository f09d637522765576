import { expect, it, onTestFinished } from 'vitest';
import { addRunRows, clearRunRows, placedFrom } from '../../src/reporting/reports.sql.ts';
import { at, makeLedger } from '../support/ledger.ts';

it('forgets every row of a run that was frozen, however many, and none of another', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await ledger.write(async (trx) => {
    for (const id of ['a', 'b']) {
      await trx
        .insertInto('runs')
        .values({ id, started_at: at(0), history_mark: 0n })
        .execute();
      await addRunRows(trx, id, 'statement', placedFrom(0, [['header']]));
    }
    const rows = Array.from({ length: 6000 }, (_, n) => [`${n}`]);
    for (const name of ['payouts', 'statement-rows']) await addRunRows(trx, 'a', name, placedFrom(0, rows));
  });
  await clearRunRows(ledger, 'a');
  expect(await ledger.db.selectFrom('run_rows').select(['run_id', 'sheet']).execute()).toEqual([
    { run_id: 'b', sheet: 'statement' },
  ]);
});
