import { type NotNull, type RawBuilder, sql } from 'kysely';
import { textsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { FileState } from '../storage/tables/file-tables.ts';
import { ofThisMachine } from './file-tasks.ts';

/** SQL condition for queries over `batches`: the file allows the batch to be sent (P34). */
export const fileMayGo: RawBuilder<boolean> = sql`batches.file_state in ('whole', 'accepted', 'begun')`;

/** The states in which a file is still checked; as literals, so that SQLite uses the partial index on them. */
const checkedStates = (['due', 'whole', 'changed', 'missing'] as const).map((state) => sql.lit(state));

function archivedBatches(db: Db | Trx) {
  return db
    .selectFrom('batches')
    .innerJoin('file_moves', 'file_moves.owner', 'batches.id')
    .select([
      'batches.id as batch',
      'batches.file_state as state',
      'file_moves.source',
      'file_moves.target as path',
      'file_moves.bytes',
      'file_moves.sha256',
      'file_moves.outcome',
    ])
    .where('batches.file_state', 'in', checkedStates)
    .where('file_moves.kind', '=', 'archive')
    .$narrowType<{ bytes: NotNull }>()
    .where('file_moves.done_at', 'is not', null)
    .where(ofThisMachine);
}

/** A batch of which nothing was sent yet, with its archived file on this machine. */
export type ArchivedBatch = Awaited<ReturnType<ReturnType<typeof archivedBatches>['execute']>>[number];

/**
 * Returns the batches that could go now, whose files are checked before the first payout of each is sent. `day`: the newest
 * whose payouts may go (P38).
 */
export function batchesToConfirm(db: Db, day: string): Promise<ArchivedBatch[]> {
  return archivedBatches(db)
    .where('batches.phase', '=', 'loaded')
    .where(
      sql<boolean>`exists (select 1 from payouts as p where p.batch_id = batches.id and p.state = 'ready'
        and p.pay_on <= ${day})`,
    )
    .execute();
}

/** A batch that waits only for the check of its file. `archive`: where the file is, as far as this machine knows. */
export type BatchAwaitingLook = {
  batch: string;
  count: number;
  archive: 'here' | 'not_yet' | 'elsewhere';
  path: string;
};

/**
 * Returns the batches that wait only for the check of their files (P34), with the number of waiting payouts. `day`: the
 * newest whose payouts may go.
 */
export async function batchesAwaitingLook(db: Db, day: string): Promise<BatchAwaitingLook[]> {
  const waiting = await db
    .selectFrom('batches')
    .innerJoin('payouts', 'payouts.batch_id', 'batches.id')
    .select((eb) => ['batches.id as batch', eb.fn.countAll<bigint>().as('count')])
    .where('batches.file_state', '=', 'due')
    .where('batches.phase', '=', 'loaded')
    .where('payouts.state', '=', sql.lit('ready' as const))
    .where('payouts.pay_on', '<=', day)
    .groupBy('batches.id')
    .orderBy('batches.id')
    .execute();
  if (waiting.length === 0) return [];
  const moves = await db
    .selectFrom('file_moves')
    .select(['owner', 'target', 'done_at'])
    .where('kind', '=', 'archive')
    .where('owner', 'in', textsOf(waiting.map(({ batch }) => batch)))
    .where(ofThisMachine)
    .execute();
  const moveOf = new Map(moves.map((move) => [move.owner, move]));
  return waiting.map(({ batch, count }) => {
    const move = moveOf.get(batch);
    const archive = !move ? 'elsewhere' : move.done_at === null ? 'not_yet' : 'here';
    return { batch, count: Number(count), archive, path: move?.target ?? '' };
  });
}

/** Returns a batch whose file has just been moved to the archive. */
export function archivedBatch(db: Db, batch: string): Promise<ArchivedBatch | undefined> {
  return archivedBatches(db).where('batches.id', '=', batch).executeTakeFirst();
}

/** Records the result of a check, and returns true, unless a payout was sent or a person accepted the file meanwhile. */
export async function setFileState(
  trx: Trx,
  batch: string,
  state: 'due' | 'whole' | 'changed' | 'missing',
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('batches')
    .set({ file_state: state })
    .where('id', '=', batch)
    .where('file_state', 'in', ['due', 'whole', 'changed', 'missing'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Accepts a batch's file as it is, because a person released the batch. A file that was whole when it was held is
 * checked once more. `lookAgain` is false where machines share the ledger, since the machine with the file may be gone.
 */
export async function releaseFile(
  trx: Trx,
  batch: string,
  { lookAgain }: { lookAgain: boolean },
): Promise<void> {
  const state = trx.updateTable('batches').where('id', '=', batch);
  const accepted: FileState[] = lookAgain ? ['changed', 'missing'] : ['changed', 'missing', 'due'];
  await state.set({ file_state: 'accepted' }).where('file_state', 'in', accepted).execute();
  if (lookAgain) await state.set({ file_state: 'due' }).where('file_state', '=', 'whole').execute();
}

/**
 * Ends the checks of these batches and their files: their first payouts are claimed. `known`: batches that this process
 * marked before, so that not every claim writes. After a failed commit a file is only checked once more.
 */
export async function beginFiles(trx: Trx, batches: readonly string[], known: Set<string>): Promise<void> {
  const fresh = [...new Set(batches)].filter((batch) => !known.has(batch));
  if (fresh.length === 0) return;
  await trx
    .updateTable('batches')
    .set({ file_state: 'begun' })
    .where('id', 'in', textsOf(fresh))
    .where('file_state', '=', 'whole')
    .execute();
  await trx
    .updateTable('batches')
    .set({ precheck: 'begun' })
    .where('id', 'in', textsOf(fresh))
    .where('precheck', '=', 'clear')
    .execute();
  for (const batch of fresh) known.add(batch);
}
