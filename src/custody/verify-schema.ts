import { type RawBuilder, sql } from 'kysely';
import { perDialect } from '../core/storage/dialect.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type LedgerProblem, problemsOf } from './ledger-problem.ts';

/** The triggers of the ledger's schema that exist and, on PostgreSQL, are enabled. */
export async function triggersOf(db: Db): Promise<Set<string>> {
  const { rows } = await perDialect<{ name: string }>(
    sql`select name from sqlite_master where type = 'trigger'`,
    sql`select t.tgname as name from pg_trigger t
      join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and t.tgenabled <> 'D'
        and c.relnamespace = current_schema()::regnamespace`,
  ).execute(db);
  return new Set(rows.map(({ name }) => name));
}

type ForeignKey = { child: string; parent: string; from_column: string; to_column: string; checked: bigint };

/** Finds rows that refer to a missing row. It queries them itself: the owner can have disabled the checks. */
export async function strayRows(db: Db): Promise<LedgerProblem[]> {
  const { rows: keys } = await sql<ForeignKey>`select child.relname as child, parent.relname as parent,
      a.attname as from_column, b.attname as to_column, k.convalidated as checked
    from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
      join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[1]
    where k.contype = 'f' and k.connamespace = current_schema()::regnamespace
    order by child.relname, a.attname`.execute(db);
  const issues: LedgerProblem[] = [];
  for (const key of keys) {
    const { child, parent } = key;
    const { rows } = await strays(key).execute(db);
    const n = rows[0]?.n ?? 0n;
    if (n > 0n)
      issues.push(...problemsOf('foreign_keys', null, [{ kind: 'stray_rows', table: child, n, parent }]));
  }
  return issues;
}

function strays({ child, parent, from_column, to_column }: ForeignKey): RawBuilder<{ n: bigint }> {
  const own = sql.ref(`c.${from_column}`);
  return sql`select count(*) as n from ${sql.table(child)} c where ${own} is not null
    and not exists (select 1 from ${sql.table(parent)} p where p.${sql.ref(to_column)} = ${own})`;
}
