import { sql } from 'kysely';
import { judgeCollection } from '../../core/domain/collection.ts';
import type { Expectation } from '../../core/domain/collection-rules.ts';
import { type PromisedFile, promiseFiles } from '../../core/ledger/file-tasks.ts';
import { ledgerMode } from '../../core/ledger/meta.ts';
import { field, idList, integerField, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Collection, CollectionFile } from '../../core/storage/tables/collection-tables.ts';
import { collectionFacts } from './collections.sql.ts';

export type ExpectedRow = Expectation & { row: number; referenceKey: string };

/** Opens a file in phase `loading`: until it is closed, all its rows may be discarded. */
export async function openFile(trx: Trx, file: Omit<CollectionFile, 'phase'>): Promise<void> {
  await trx
    .insertInto('collection_files')
    .values({ ...file, phase: 'loading' })
    .execute();
}

/** Records these collections as expected, and asks again about known ones. An earlier expectation never changes. */
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

/** Judges collections again whose expectation was added or removed: it may change the state of one known before. */
async function judgeAgain(trx: Trx, rows: readonly Collection[]): Promise<void> {
  const mode = await ledgerMode(trx);
  for (const row of rows) {
    const { state } = judgeCollection(collectionFacts(row, mode));
    if (state !== row.state)
      await trx.updateTable('collections').set({ state }).where('id', '=', row.id).execute();
  }
}

/** Returns those of these folded references that were expected before, with the file of each. */
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

/** The file that had this content, under any name; a file still in intake does not count. */
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

/** Closes a loading file: its expectations count from here on. Also records the file moves that are due (P23, P34). */
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

/** Files in phase `loading`: in intake, or left by a crash. */
export async function loadingFiles(db: Db | Trx): Promise<string[]> {
  const rows = await db.selectFrom('collection_files').select('id').where('phase', '=', 'loading').execute();
  return rows.map((row) => row.id);
}

/** Removes up to `limit` expectations of a loading file, and it with the last. Collections known otherwise stay. */
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
  const among = (some: typeof rows) => idList(some.map((row) => row.id));
  await trx.deleteFrom('collection_look_ups').where('collection_id', 'in', among(gone)).execute();
  await trx.deleteFrom('resend_requests').where('collection_id', 'in', among(gone)).execute();
  await trx.deleteFrom('collections').where('id', 'in', among(gone)).execute();
  const unexpected = {
    file_id: null,
    row_number: null,
    expected_amount: null,
    expected_currency: null,
    expected_at: null,
  };
  await trx.updateTable('collections').set(unexpected).where('id', 'in', among(kept)).execute();
  await judgeAgain(
    trx,
    kept.map((row) => ({ ...row, ...unexpected })),
  );
  if (rows.length === limit) return { done: false };
  await trx.deleteFrom('collection_files').where('id', '=', id).where('phase', '=', 'loading').execute();
  return { done: true };
}
