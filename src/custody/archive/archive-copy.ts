import type Database from 'better-sqlite3';

/** The condition of a table's rows that go into an archive; `main` is the ledger. */
type Part = { table: string; where: string };

const payouts = 'select id from main.payouts where batch_id in (select id from temp.archived)';
const ofPayouts = `payout_id in (${payouts})`;
const ofBatches = 'batch_id in (select id from temp.archived)';
const runs = 'select id from main.runs where frozen <= :frozen';

/** Every table of an archive, those that others refer to first. */
const parts: Part[] = [
  { table: 'batches', where: 'id in (select id from temp.archived)' },
  { table: 'batch_totals', where: ofBatches },
  { table: 'approvals', where: ofBatches },
  { table: 'mends', where: ofBatches },
  { table: 'canaries', where: ofBatches },
  { table: 'limit_days', where: `id in (select day_id from main.attempts where ${ofPayouts})` },
  { table: 'origins', where: 'true' },
  { table: 'same_accounts', where: 'true' },
  { table: 'payouts', where: ofBatches },
  { table: 'attempts', where: ofPayouts },
  { table: 'history', where: ofPayouts },
  { table: 'inquiries', where: ofPayouts },
  { table: 'webhooks', where: ofPayouts },
  { table: 'resend_requests', where: ofPayouts },
  { table: 'discrepancies', where: ofPayouts },
  {
    table: 'discrepancy_events',
    where: `discrepancy_id in (select id from main.discrepancies where ${ofPayouts})`,
  },
  // A run may rest on the listing of an earlier one.
  { table: 'runs', where: `rowid <= (select max(rowid) from main.runs where frozen <= :frozen)` },
  { table: 'run_verdicts', where: `run_id in (${runs})` },
  { table: 'run_rows', where: 'since <= :frozen' },
  {
    table: 'period_rows',
    where: `month in (select month from main.periods where through_history <= :through)`,
  },
  {
    table: 'period_transfers',
    where: `month in (select month from main.periods where through_history <= :through)`,
  },
  { table: 'periods', where: 'through_history <= :through' },
];

/** Copies what the batches in `temp.archived` and the runs up to `frozen` need into the attached database `archive`. */
export function copyParts(ledger: Database.Database, about: { frozen: bigint; through: bigint }): void {
  for (const { table, where } of parts) {
    const columns = ledger.prepare('select name from pragma_table_info(?, ?)').pluck().all(table, 'main');
    // What an earlier archive holds is not in this one.
    const copied = columns.map(String).filter((name) => name !== 'archive_id');
    // Their number is the order in which runs began, which their times do not prove.
    const list = [...(table === 'runs' ? ['rowid'] : []), ...copied].map((name) => `"${name}"`).join(', ');
    const insert = ledger.prepare(
      `insert into archive."${table}" (${list}) select ${list} from main."${table}" where ${where}`,
    );
    const named = Object.entries(about).filter(([name]) => where.includes(`:${name}`));
    if (named.length > 0) insert.run(Object.fromEntries(named));
    else insert.run();
  }
}
