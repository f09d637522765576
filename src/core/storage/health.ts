import { sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import type { WebhookRejectionKind } from '../domain/rejection.ts';
import { hasRow } from './counting.ts';
import { isPostgres } from './dialect.ts';
import { isDamage } from './failure.ts';
import { ledgerBytes } from './free-space.ts';
import type { Db } from './ledger.ts';
import { serverFacts, unfitness } from './postgres-server.ts';

type Row = Record<string, unknown>;

/** What a look at the file found: `whole` where all of it was read, else only the ends of its tables and indexes. */
export type FileHealth = { damage: string[]; read: 'whole' | 'ends' };

/** A file up to this size is read whole: that takes about a second. */
const wholeUpToBytes = 256 * 1024 * 1024;

/**
 * Problems that SQLite's quick check finds in the file, or PostgreSQL's unsafe settings. A large file is not read whole:
 * `verify` does that. Of such a file it reads the schema and both ends of each table and index.
 */
export async function quickCheck(db: Db, wholeUpTo = wholeUpToBytes): Promise<FileHealth> {
  if (isPostgres(db))
    return { damage: [unfitness(await factsOf(db))].filter((why) => why !== null), read: 'whole' };
  if ((await ledgerBytes(db)) > wholeUpTo) return { damage: await endsDamage(db), read: 'ends' };
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(5)`.execute(db);
  return { damage: rows.map((row) => row.quick_check).filter((said) => said !== 'ok'), read: 'whole' };
}

/** Reads the first and the last row of each table and of each index that has every row. */
async function endsDamage(db: Db): Promise<string[]> {
  const { rows } = await sql<{ table: string; columns: string }>`
    select t.name as "table", 'rowid' as columns from pragma_table_list t
    where t.schema = 'main' and t.type = 'table' and t.wr = 0
    union all
    select t.name, (select group_concat('"' || c.name || '"') from pragma_index_info(i.name) c)
    from pragma_table_list t, pragma_index_list(t.name) i
    where t.schema = 'main' and t.type = 'table' and i.partial = 0
      and not exists (select 1 from pragma_index_info(i.name) c where c.name is null)`.execute(db);
  const found = new Set<string>();
  for (const { table, columns } of rows)
    for (const way of ['asc', 'desc'])
      try {
        const order = columns.replaceAll(',', ` ${way}, `);
        await sql.raw(`select * from "${table}" order by ${order} ${way} limit 1`).execute(db);
      } catch (error) {
        if (!isDamage(error)) throw error;
        found.add(`${table}: ${error.message}`);
      }
  return [...found];
}

function factsOf(db: Db): ReturnType<typeof serverFacts> {
  return serverFacts({ ask: async (text) => (await sql.raw<Row>(text).execute(db)).rows });
}

export async function describeServer(db: Db): Promise<string> {
  const { version, synchronousCommit, fsync } = await factsOf(db);
  return `PostgreSQL ${version}, synchronous_commit ${synchronousCommit}, fsync ${fsync}`;
}

/** Deliveries turned away since an instant, by kind, the most frequent first; only the kept ones are counted. */
export async function rejectionsSince(
  db: Db,
  since: string,
): Promise<{ kind: WebhookRejectionKind; count: number }[]> {
  const rows = await db
    .selectFrom('rejections')
    .select(['kind', (on) => on.fn.countAll<bigint>().as('n')])
    .where('at', '>=', since)
    .groupBy('kind')
    .orderBy('n', 'desc')
    .limit(10)
    .execute();
  return rows.map(({ kind, n }) => ({ kind, count: Number(n) }));
}

/** A frozen body and its last send; `beganAt` null: never sent. */
export type SignedBody = {
  reference: string;
  body: string;
  beganAt: string | null;
  code: string | null;
  message: string | null;
};

/** The last attempt that was answered 22. Undefined if one was accepted since: then the signature is right again. */
export async function lastSignatureRefusal(db: Db): Promise<SignedBody | undefined> {
  const refusal = await attemptsOf(db)
    .where('attempts.code', '=', '22')
    .orderBy('attempts.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!refusal) return undefined;
  const later = db.selectFrom('attempts').where('outcome', '=', 'accepted').where('id', '>', refusal.id);
  return (await hasRow(later)) ? undefined : refusal;
}

/** The frozen body of a payout with its last attempt; undefined for a reference that is not in the ledger. */
export async function signedBodyOf(db: Db, reference: string): Promise<SignedBody | undefined> {
  const key = foldReference(reference);
  const sent = await attemptsOf(db)
    .where('payouts.reference_key', '=', key)
    .orderBy('attempts.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (sent) return sent;
  const payout = await db
    .selectFrom('payouts')
    .select(['reference', 'body'])
    .where('reference_key', '=', key)
    .executeTakeFirst();
  return payout && { ...payout, beganAt: null, code: null, message: null };
}

function attemptsOf(db: Db) {
  return db
    .selectFrom('attempts')
    .innerJoin('payouts', 'payouts.id', 'attempts.payout_id')
    .select([
      'attempts.id',
      'payouts.reference',
      'payouts.body',
      'attempts.began_at as beganAt',
      'attempts.code',
      'attempts.message',
    ]);
}
