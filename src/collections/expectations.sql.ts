import { sql } from 'kysely';
import { judgeCollection } from '../domain/collection.ts';
import { type PromisedFile, promiseFiles } from '../ledger/file-tasks.ts';
import { ledgerMode } from '../ledger/ledger-mode.ts';
import { field, idsOf, integerField, rowsOf, textsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Collection, CollectionFile } from '../storage/tables/collection-tables.ts';
import { factsOf } from './collections.sql.ts';

/** A row of an expectation file as intake hands it over; `amount` in minor units of `currency`. */
export type ExpectedRow = {
  row: number;
  reference: string;
  referenceKey: string;
  amount: bigint;
  currency: string;
};

/** Opens a file in phase `loading`: until it is closed its rows may be thrown away whole. */
export async function openFile(trx: Trx, file: Omit<CollectionFile, 'phase'>): Promise<void> {
  await trx
    .insertInto('collection_files')
    .values({ ...file, phase: 'loading' })
    .execute();
}

/**
 * Promises these collections. What was heard or verified before keeps that, and is asked about again; nothing changes a
 * promise that was made before.
 */
export async function expectSome(
  trx: Trx,
  file: string,
  at: string,
  rows: readonly ExpectedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  // Amounts travel as text: a JSON number would lose digits above 2^53.
  const texts = rows.map((row) => ({ ...row, amount: row.amount.toString(), row: row.row.toString() }));
  await sql`insert into collections (reference, reference_key, state, file_id, row_number, expected_amount,
      expected_currency, expected_at, ask_at, updated_at)
    select ${field('reference')}, ${field('referenceKey')}, 'expected', ${file},
      ${integerField('row')}, ${integerField('amount')}, ${field('currency')}, ${at}, ${at}, ${at}
    from ${rowsOf(texts)} as row where true order by row.key
    on conflict (reference_key) do update set file_id = excluded.file_id, row_number = excluded.row_number,
      expected_amount = excluded.expected_amount, expected_currency = excluded.expected_currency,
      expected_at = excluded.expected_at, ask_at = excluded.ask_at, rung = 0, raised = collections.raised + 1
    where collections.file_id is null`.execute(trx);
  const keys = rows.map((row) => row.referenceKey);
  const known = await trx
    .selectFrom('collections')
    .selectAll()
    .where('reference_key', 'in', textsOf(keys))
    // `coalesce` keeps SQLite off the index on the file, which would read all of it for each chunk.
    .where(sql<boolean>`coalesce(file_id, '') = ${file}`)
    .where((eb) => eb.or([eb('heard_at', 'is not', null), eb('verified_at', 'is not', null)]))
    .execute();
  await judgeAgain(trx, known);
}

/** What is promised now, or no longer, may put a collection that was heard or verified before in another state. */
async function judgeAgain(trx: Trx, rows: readonly Collection[]): Promise<void> {
  const mode = await ledgerMode(trx);
  for (const row of rows) {
    const { state } = judgeCollection(factsOf(row, mode));
    if (state !== row.state)
      await trx.updateTable('collections').set({ state }).where('id', '=', row.id).execute();
  }
}

/** Which of these folded references were promised before, with the file of each. */
export async function promisedBefore(db: Db | Trx, keys: readonly string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom('collections')
    .select(['reference_key', 'file_id'])
    .where('file_id', 'is not', null)
    .where('reference_key', 'in', textsOf(keys))
    .execute();
  return new Map(rows.map((row) => [row.reference_key, row.file_id ?? '']));
}

/** The file that this content was before, whatever its name was then; one that is still being taken in is none. */
export function findFileByHash(db: Db | Trx, contentHash: string): Promise<CollectionFile | undefined> {
  return db
    .selectFrom('collection_files')
    .selectAll()
    .where('content_hash', '=', contentHash)
    .where('phase', '=', 'loaded')
    .executeTakeFirst();
}

export function findFile(db: Db | Trx, id: string): Promise<CollectionFile | undefined> {
  return db.selectFrom('collection_files').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Closes a loading file: its promises count from here on. Set together with the files that are promised (P23, P34). */
export async function closeFile(
  trx: Trx,
  closed: { id: string; at: string; files: readonly PromisedFile[] },
): Promise<void> {
  await trx
    .updateTable('collection_files')
    .set({ phase: 'loaded' })
    .where('id', '=', closed.id)
    .where('phase', '=', 'loading')
    .execute();
  await promiseFiles(trx, { owner: closed.id, at: closed.at }, closed.files);
}

/** Files in phase `loading`: under way, or left by a crash. */
export async function loadingFiles(db: Db | Trx): Promise<string[]> {
  const rows = await db.selectFrom('collection_files').select('id').where('phase', '=', 'loading').execute();
  return rows.map((row) => row.id);
}

/**
 * Takes back up to `limit` promises of a loading file, and the file with the last. What was heard or verified meanwhile
 * stays, promised by nobody.
 */
export async function dropPromises(trx: Trx, id: string, limit: number): Promise<{ done: boolean }> {
  const rows = await trx
    .selectFrom('collections')
    .selectAll()
    .where('file_id', '=', id)
    .orderBy('id')
    .limit(limit)
    .execute();
  const kept = rows.filter((row) => row.heard_at !== null || row.verified_at !== null);
  const gone = rows.filter((row) => row.heard_at === null && row.verified_at === null);
  const among = (some: typeof rows) => idsOf(some.map((row) => row.id));
  await trx.deleteFrom('collection_look_ups').where('collection_id', 'in', among(gone)).execute();
  await trx.deleteFrom('resend_requests').where('collection_id', 'in', among(gone)).execute();
  await trx.deleteFrom('collections').where('id', 'in', among(gone)).execute();
  const nobody = {
    file_id: null,
    row_number: null,
    expected_amount: null,
    expected_currency: null,
    expected_at: null,
  };
  await trx.updateTable('collections').set(nobody).where('id', 'in', among(kept)).execute();
  await judgeAgain(
    trx,
    kept.map((row) => ({ ...row, ...nobody })),
  );
  if (rows.length === limit) return { done: false };
  await trx.deleteFrom('collection_files').where('id', '=', id).where('phase', '=', 'loading').execute();
  return { done: true };
}
