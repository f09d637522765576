import { basename } from 'node:path';
import { type Selectable, sql } from 'kysely';
import { knownEnding } from '../domain/file-formats.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Tables } from '../storage/tables/tables.ts';
import { rowsOfThisMachine } from './file-tasks.ts';

const columns = [
  'id',
  'kind',
  'name',
  'place',
  'errors_file',
  'problems',
  'rows_left',
  'content_hash',
  'owner',
  'since',
  'machine',
] as const;
type RejectedRow = Pick<Selectable<Tables['rejected_files']>, (typeof columns)[number]>;

/** `taken_before`: refused since its content is a batch already, not a cancelled one: to correct it would pay again. */
export type RejectionKind = RejectedRow['kind'] | 'taken_before';

/**
 * A file of the inbox that was refused, or a batch that lacks the rows that `skip_row` left out. It needs a person until
 * a good file of its name is taken, or somebody acknowledges it. `owner`: the batch that lacks rows or has the content.
 */
export type RejectedFile = Omit<RejectedRow, 'kind'> & { kind: RejectionKind };

/**
 * What a refusal records. `place`: where the file lies once it is moved. `contentHash`: of its rows, else of its bytes;
 * empty where it could not be read.
 */
export type Refusal = {
  name: string;
  place: string;
  errorsFile: string | null;
  problems: number;
  contentHash: string;
  at: string;
};

/** How many rows a taken file lacks, and the sheets that hold them and their problems. */
export type RowsLeft = { rows: number; problems: number; place: string; errorsFile: string | null };

const here = rowsOfThisMachine('rejected_files');

/** Returns the open ones in all folders on this ledger, the oldest first. */
export async function openRejectedFiles(db: Db | Trx): Promise<RejectedFile[]> {
  const rows = await openRows(db)
    .select((eb) =>
      eb
        .selectFrom('batches')
        .select('batches.id')
        .whereRef('batches.content_hash', '=', 'rejected_files.content_hash')
        .where(sql<boolean>`exists (select 1 from payout_totals t
          where t.batch_id = batches.id and t.state <> 'cancelled' and t.n > 0)`)
        .as('taken_as'),
    )
    .execute();
  return rows.map(({ taken_as: batch, ...file }) =>
    file.kind === 'refused' && batch !== null ? { ...file, kind: 'taken_before', owner: batch } : file,
  );
}

function openRows(db: Db | Trx) {
  return db.selectFrom('rejected_files').select(columns).where('ended_at', 'is', null).orderBy('id');
}

/** Returns the open refusal of a file of this name in this machine's folders. */
export function openRefusalOf(db: Db | Trx, name: string): Promise<RejectedRow | undefined> {
  return openRows(db).where('kind', '=', 'refused').where('name', '=', name).where(here).executeTakeFirst();
}

/**
 * Records that a file was refused, before it moves (P34). `repeats`: the open refusal of the same file, which is still
 * where it was; it changes, and is no new case. Another open refusal of the name ends, and its `since` goes on.
 */
export async function recordRefusal(
  trx: Trx,
  { name, place, errorsFile, problems, contentHash, at }: Refusal,
  repeats: bigint | null,
): Promise<void> {
  const found = { place, errors_file: errorsFile, problems: BigInt(problems), content_hash: contentHash };
  // Read here: somebody may have acknowledged it meanwhile, and then the file is refused once more.
  const before = await openRefusalOf(trx, name);
  if (before && before.id === repeats) {
    await trx.updateTable('rejected_files').set(found).where('id', '=', repeats).execute();
    return;
  }
  if (before) await end(trx, [before.id], { at, ended: 'refused_again' });
  await trx
    .insertInto('rejected_files')
    .values({ kind: 'refused', name, rows_left: 0n, since: before?.since ?? at, ...found })
    .execute();
}

/**
 * Ends what a taken file corrects: refusals of its name or content, and left-out rows whose sheet it is. Then records
 * the rows that this file lacks itself. In the transaction that decides the batch.
 */
export async function recordTakenFile(
  trx: Trx,
  taken: { owner: string; name: string; contentHash: string; at: string; left: RowsLeft | null },
): Promise<void> {
  const { owner, name, contentHash, at, left } = taken;
  const ours = await openRows(trx).where(here).execute();
  const same = await openRows(trx).where('content_hash', '=', contentHash).execute();
  const corrected = ours.filter((one) => corrects(name, one));
  const ids = new Set([...corrected, ...same.filter(({ kind }) => kind === 'refused')].map(({ id }) => id));
  await end(trx, [...ids], { at, ended: 'taken', by: owner });
  if (left === null) return;
  await trx
    .insertInto('rejected_files')
    .values({
      kind: 'left_out',
      name,
      place: left.place,
      errors_file: left.errorsFile,
      problems: BigInt(left.problems),
      rows_left: BigInt(left.rows),
      content_hash: contentHash,
      owner,
      since: at,
    })
    .execute();
}

/** A refused file is corrected under its own name or that of its copy; left-out rows only under that of their sheet. */
function corrects(name: string, { kind, name: refused, place }: RejectedRow): boolean {
  const folder = /^collections\//.exec(refused)?.[0] ?? '';
  const copy = `${folder}${basename(place)}`;
  const names = kind === 'refused' ? [refused, copy] : [copy];
  return names.some((one) => stemOf(one) === stemOf(name));
}

/** A workbook that was refused is saved as CSV, so the ending does not count; nor does case. */
function stemOf(name: string): string {
  return name.toLowerCase().replace(knownEnding, '');
}

/** Follows a sheet that went to another place than was promised. */
export async function followSheet(
  trx: Trx,
  owner: string,
  to: { place: string } | { errors_file: string },
): Promise<void> {
  await trx.updateTable('rejected_files').set(to).where('owner', '=', owner).execute();
}

/**
 * The open ones that a person names: by the file's name, or by that of the file to correct. Only where no name is exactly
 * that one do its folder and its ending not count.
 */
export function rejectedNamed(open: readonly RejectedFile[], name: string): RejectedFile[] {
  const exact = open.filter((one) => one.name === name || one.place === name);
  if (exact.length > 0) return exact;
  const wanted = stemOf(basename(name));
  return open.filter((one) => [one.name, one.place].some((known) => stemOf(basename(known)) === wanted));
}

/** Ends rejections that a person has dealt with. */
export function acknowledgeRejected(
  trx: Trx,
  ids: readonly bigint[],
  { at, by, note }: { at: string; by: string; note: string },
): Promise<void> {
  return end(trx, ids, { at, ended: 'acknowledged', by, note });
}

async function end(
  trx: Trx,
  ids: readonly bigint[],
  how: { at: string; ended: 'taken' | 'refused_again' | 'acknowledged'; by?: string; note?: string },
): Promise<void> {
  const { at, ended, by = '', note = '' } = how;
  const set = { ended_at: at, ended, ended_by: by, note };
  for (const id of ids)
    await trx
      .updateTable('rejected_files')
      .set(set)
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .execute();
}
