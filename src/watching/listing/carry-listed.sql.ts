import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { StagedTransfer } from '../../core/domain/listed-transfer.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { shownColumns } from './listed-columns.ts';
import { latestRunFirst, newestCompleteRun } from './listings.sql.ts';

/** How many rows one statement copies, with two values each. */
const rowsPerCarry = 500;

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
): Promise<StagedTransfer[]> {
  const left: StagedTransfer[] = [];
  for (let start = 0; start < transfers.length; start += rowsPerCarry) {
    const some = transfers.slice(start, start + rowsPerCarry);
    const values = some.flatMap(({ id, print }) => [id, print ?? null]);
    let carried = 0n;
    for (const source of from) {
      if (carried === BigInt(some.length)) break;
      const text = textOf(trx, 'copy', some.length);
      const parameters = [run, BigInt(pass), ...values, source];
      carried += (await trx.executeQuery(CompiledQuery.raw(text, parameters))).numAffectedRows ?? 0n;
    }
    if (carried === BigInt(some.length)) continue;
    const there = carried === 0n ? new Set() : await alreadyThere(trx, run, { values, rows: some.length });
    left.push(...some.filter(({ id }) => !there.has(id)));
  }
  return left;
}

type Given = { values: readonly (string | number | null)[]; rows: number };

/** Returns those of these transfers that the run already lists with the same content. */
async function alreadyThere(trx: Trx, run: string, { values, rows }: Given): Promise<Set<string>> {
  const text = textOf(trx, 'find', rows);
  const result = await trx.executeQuery<{ transfer_id: string }>(CompiledQuery.raw(text, [...values, run]));
  return new Set(result.rows.map((row) => row.transfer_id));
}

const builders = { copy: copyOf, find: findOf };
/** One statement text for each dialect, as in staging. */
const texts = new Map<string, string>();

function textOf(trx: Trx, kind: keyof typeof builders, rows: number): string {
  const { adapter } = trx.getExecutor();
  const name = `${adapter.constructor.name} ${kind} ${rows}`;
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = builders[kind](rows).compile(trx).sql;
  texts.set(name, text);
  return text;
}

const any = sql.val('');

/** Rows of a transfer id and its print. The cross join makes each find its own row of one run by the key. */
function sameAs(rows: number): RawBuilder<unknown> {
  const given = sql.join(Array(rows).fill(sql`(${any}, ${any})`));
  return sql`(values ${given}) v cross join listed l
    where l.run_id = ${any} and l.transfer_id = v.column1 and l.print = cast(v.column2 as bigint)`;
}

/** Its parameters: the run, the pass, an id and a print for each row, and the run to copy from. */
function copyOf(rows: number): RawBuilder<unknown> {
  const copied = [...shownColumns, 'print', 'payout_id', 'stray_key'];
  const columns = sql.join(['run_id', 'pass', ...copied].map((column) => sql.ref(column)));
  const values = sql.join(copied.map((column) => sql.ref(`l.${column}`)));
  return sql`insert into listed (${columns})
    select cast(${any} as text), cast(${any} as bigint), ${values} from ${sameAs(rows)}
      and l.payout_id is not null and l.stray_key is null
    on conflict (run_id, transfer_id) do nothing`;
}

/** Its parameters: an id and a print for each row, and the run. */
function findOf(rows: number): RawBuilder<unknown> {
  return sql`select l.transfer_id from ${sameAs(rows)}`;
}
