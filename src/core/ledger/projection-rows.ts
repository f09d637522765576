import { sql } from 'kysely';
import { overRows } from '../storage/bound-rows.ts';
import { idsIn, idsText, textsIn } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { Batch, Payout } from '../storage/tables/tables.ts';
import { isSureToStay } from './batch-events.ts';
import { columns, type Row } from './projection.ts';
import { moveTotals } from './totals.ts';

type Column = (typeof columns)[number];

const integers: ReadonlySet<Column> = new Set([
  'attempt_count',
  'last_attempt_id',
  'unseen_sends',
  'auto_resends',
  'history_seq',
]);

/** A payout with what its totals need beside the columns that events change. */
export type CountedRow = Row & Pick<Payout, 'currency' | 'amount' | 'successor_of'>;

const selectRows = prepared<CountedRow>((db, slot) =>
  db
    .selectFrom('payouts')
    .select([...columns, 'currency', 'amount', 'successor_of'])
    .where('id', 'in', idsIn(slot(0))),
);

/** Loads these payouts; `record` changes them in memory first. */
export function loadRows(trx: Trx, ids: readonly bigint[]): Promise<CountedRow[]> {
  return selectRows(trx, [idsText(ids)]);
}

const raiseVersions = prepared<Pick<Batch, 'id' | 'told_state'>>(
  (_, slot) =>
    sql`update batches set version = version + 1 where id in ${textsIn(slot(0))} returning id, told_state`,
);

/** The results of a payout's batch name who pays it again, and how that one stands. */
const raiseVersionsBefore = prepared<never>(
  (_, slot) => sql`with recursive line (id) as (
      select successor_of from payouts where id in ${idsIn(slot(0))}
      union
      select p.successor_of from line join payouts p on p.id = line.id where p.successor_of is not null)
    update batches set version = version + 1
    where id in (select p.batch_id from line join payouts p on p.id = line.id)`,
);

type Update = (trx: Trx, shared: readonly string[], rows: readonly Row[]) => Promise<unknown>;

/** Compiled statements by the names of the columns that they set. */
const updates = new Map<string, Update>();

function updateOf(key: string, names: readonly Column[]): Update {
  const known = updates.get(key);
  if (known) return known;
  const update = overRows(['id', ...names], 1, ({ rows, text, integer, shared }) => {
    const sets = names.map(
      (name) => sql`${sql.ref(name)} = ${integers.has(name) ? integer(name) : text(name)}`,
    );
    return sql`update payouts set ${sql.join(sets)}, updated_at = ${shared(0)}
      from ${rows} where payouts.id = ${integer('id')}`;
  });
  updates.set(key, update);
  return update;
}

export type Changed = { before: CountedRow; after: CountedRow };

/**
 * Writes changed payouts, raises the version of their batches and moves their totals. One statement covers all rows with the same
 * changed columns, so that the indexes of other columns stay untouched. Returns the batches whose state may have changed.
 */
export async function writeRows(trx: Trx, at: string, rows: readonly Changed[]): Promise<string[]> {
  const groups = new Map<string, { names: Column[]; own: Row[] }>();
  for (const { before, after } of rows) {
    const names = columns.filter((name) => before[name] !== after[name]);
    const key = names.join(' ');
    const group = groups.get(key) ?? { names, own: [] };
    groups.set(key, group);
    group.own.push(after);
  }
  for (const [key, { names, own }] of groups) await updateOf(key, names)(trx, [at], own);
  const batches = new Set(rows.map(({ after }) => after.batch_id));
  const raised = await raiseVersions(trx, [JSON.stringify([...batches])]);
  const again = rows.filter(
    ({ before, after }) => after.successor_of !== null && before.state !== after.state,
  );
  if (again.length > 0) await raiseVersionsBefore(trx, [idsText(again.map(({ after }) => after.id))]);
  const totals = await moveTotals(
    trx,
    rows.map(({ before, after }) => {
      const { batch_id, currency, amount } = after;
      return { batch_id, currency, amount, from: before.state, to: after.state };
    }),
  );
  const byBatch = Map.groupBy(totals, ({ batch_id }) => batch_id);
  return raised.flatMap(({ id, told_state }) => {
    const own = byBatch.get(id);
    return own === undefined || isSureToStay(told_state, own) ? [] : [id];
  });
}
