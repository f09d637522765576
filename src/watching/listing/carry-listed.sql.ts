import { type RawBuilder, sql } from 'kysely';
import type { StagedTransfer } from '../../core/domain/listed-transfer.ts';
import { overRows } from '../../core/storage/bound-rows.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { shownColumns } from './listed-columns.ts';
import { latestRunFirst, newestCompleteRun } from './listings.sql.ts';

/**
 * The runs whose rows this run most likely repeats: the last run with rows, and the newest complete one. Only identical
 * rows are copied, so a run of any account will do.
 */
export async function runsToCarryFrom(db: Db, run: string): Promise<string[]> {
  const latest = await db
    .selectFrom('runs')
    .select('id')
    .where('id', '<>', run)
    .where(sql<boolean>`exists (select 1 from listed where listed.run_id = runs.id)`)
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  const complete = await newestCompleteRun(db, []);
  const ids = [latest?.id, complete?.id].filter((id) => id !== undefined);
  return [...new Set(ids)].filter((id) => id !== run);
}

type Carry = { run: string; pass: number; from: readonly string[] };

/**
 * Stages transfers that an earlier run listed identically, by copying its rows: most of a nightly list. Returns the
 * transfers that it did not copy. A row that was not paired by its own reference is not copied: a better payout may
 * exist now.
 */
export async function carryListed(
  trx: Trx,
  { run, pass, from }: Carry,
  transfers: readonly StagedTransfer[],
): Promise<readonly StagedTransfer[]> {
  let left = transfers;
  for (const source of from)
    left = await without(left, (rows) => copySame(trx, [run, BigInt(pass), source], rows));
  if (left.length < transfers.length) left = await without(left, (rows) => findSame(trx, [run], rows));
  return left;
}

/** The transfers but those that the statement names. */
async function without(
  transfers: readonly StagedTransfer[],
  named: (rows: readonly SameRow[]) => Promise<{ transfer_id: string }[]>,
): Promise<readonly StagedTransfer[]> {
  if (transfers.length === 0) return transfers;
  const known = await named(
    transfers.map(({ id, print }) => ({ id, print: print === undefined ? null : BigInt(print) })),
  );
  const ids = new Set(known.map((row) => row.transfer_id));
  return ids.size === 0 ? transfers : transfers.filter(({ id }) => !ids.has(id));
}

type SameRow = { id: string; print: bigint | null };
type Given = Parameters<Parameters<typeof overRows<keyof SameRow>>[2]>[0];

/** The cross join makes each row find its own row of one run by the key. */
function sameAs({ rows, text, integer }: Given, run: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${rows} cross join listed l
    where l.run_id = ${run} and l.transfer_id = ${text('id')} and l.print = ${integer('print')}`;
}

/** Copies rows of one run. Shared: the run, the pass, and the run to copy from. */
const copySame = overRows<keyof SameRow, { transfer_id: string }>(['id', 'print'], 3, (given) => {
  const copied = [...shownColumns, 'print', 'payout_id', 'stray_key'];
  const columns = sql.join(['run_id', 'pass', ...copied].map((column) => sql.ref(column)));
  const values = sql.join(copied.map((column) => sql.ref(`l.${column}`)));
  return sql`insert into listed (${columns})
    select cast(${given.shared(0)} as text), cast(${given.shared(1)} as bigint), ${values}
    from ${sameAs(given, given.shared(2))} and l.payout_id is not null and l.stray_key is null
    on conflict (run_id, transfer_id) do nothing returning transfer_id`;
});

/** Finds the rows that a run already lists with the same content. Shared: the run. */
const findSame = overRows<keyof SameRow, { transfer_id: string }>(
  ['id', 'print'],
  1,
  (given) => sql`select l.transfer_id from ${sameAs(given, given.shared(0))}`,
);
