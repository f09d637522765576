import { sql } from 'kysely';
import { field, idsIn, idsText, integerField, rowsIn, rowsText, textsIn } from './bulk.ts';
import type { Trx } from './open.ts';
import { prepared } from './prepared.ts';
import { columns, type Row } from './projection.ts';

type Column = (typeof columns)[number];

/** The columns that hold whole numbers. */
const integers: ReadonlySet<Column> = new Set([
  'attempt_count',
  'last_attempt_id',
  'look_up_first',
  'unseen_sends',
  'auto_resends',
  'history_seq',
]);

const selectRows = prepared<Row>((db, slot) =>
  db
    .selectFrom('payouts')
    .select(columns)
    .where('id', 'in', idsIn(slot(0))),
);

/** These payouts as they stand; `record` changes them in memory first. */
export function loadRows(trx: Trx, ids: readonly bigint[]): Promise<Row[]> {
  return selectRows(trx, [idsText(ids)]);
}

const raiseVersions = prepared<never>(
  (_, slot) => sql`update batches set version = version + 1 where id in ${textsIn(slot(0))}`,
);

/** The statements that set these columns, by the columns' names. */
const updates = new Map<string, ReturnType<typeof prepared<never>>>();

function updateOf(key: string, names: readonly Column[]): ReturnType<typeof prepared<never>> {
  const known = updates.get(key);
  if (known) return known;
  const sets = names.map(
    (name) => sql`${sql.ref(name)} = ${integers.has(name) ? integerField(name) : field(name)}`,
  );
  const update = prepared<never>(
    (_, slot) => sql`update payouts set ${sql.join(sets)}, updated_at = ${slot(0)}
      from ${rowsIn(slot(1))} as row where payouts.id = ${integerField('id')}`,
  );
  updates.set(key, update);
  return update;
}

/** A payout before and after what `record` did to it. */
export type Changed = { before: Row; after: Row };

/**
 * Writes what became of payouts, and raises the version of their batches. One statement for all in which the same
 * columns changed: an index whose columns are not named is not touched.
 */
export async function writeRows(trx: Trx, at: string, rows: readonly Changed[]): Promise<void> {
  const groups = new Map<string, { names: Column[]; own: Row[] }>();
  for (const { before, after } of rows) {
    const names = columns.filter((name) => before[name] !== after[name]);
    const key = names.join(' ');
    const group = groups.get(key) ?? { names, own: [] };
    groups.set(key, group);
    group.own.push(after);
  }
  for (const [key, { names, own }] of groups) {
    const texts = own.map((row) => {
      const told: Record<string, Row[Column]> = { id: row.id };
      for (const name of names) told[name] = row[name];
      return told;
    });
    await updateOf(key, names)(trx, [at, rowsText(texts)]);
  }
  const batches = new Set(rows.map(({ after }) => after.batch_id));
  await raiseVersions(trx, [JSON.stringify([...batches])]);
}

const start = prepared<never>(
  (_, slot) => sql`update payouts set state = ${slot(0)}, history_seq = 1, history_head = ${field('head')}
    from ${rowsIn(slot(1))} as row where payouts.id = ${integerField('id')}`,
);

/** Writes the first state of fresh payouts and the head of their history. */
export async function startRows(
  trx: Trx,
  state: Row['state'],
  heads: readonly { id: bigint; head: string }[],
): Promise<void> {
  if (heads.length > 0) await start(trx, [state, rowsText(heads)]);
}
