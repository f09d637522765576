import { freeClaims } from '../ledger/inquiry-claims.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';

/** One process that may hold claims; its lock shows whether it lives (P3). */
export type WorkerRow = { id: string; lockFile: string };

/** Registers a process. It must hold its lock already, or another process would consider it dead. */
export async function addWorker(
  trx: Trx,
  worker: { id: string; kind: string; host: string; pid: number; lockFile: string; startedAt: string },
): Promise<void> {
  await trx
    .insertInto('workers')
    .values({
      id: worker.id,
      kind: worker.kind,
      host: worker.host,
      pid: BigInt(worker.pid),
      lock_file: worker.lockFile,
      started_at: worker.startedAt,
      beat: 0n,
      ended_at: null,
    })
    .execute();
}

/** Every worker that did not record its end, or that ended with an attempt whose outcome is not recorded. */
export async function openWorkers(db: Db): Promise<WorkerRow[]> {
  const rows = await db
    .selectFrom('workers')
    .select(['id', 'lock_file'])
    .where((eb) =>
      eb.or([
        eb('ended_at', 'is', null),
        eb('id', 'in', eb.selectFrom('attempts').select('worker_id').where('outcome', 'is', null)),
      ]),
    )
    .execute();
  return rows.map((row) => ({ id: row.id, lockFile: row.lock_file }));
}

/** Marks a worker as ended and frees the look-ups that it claimed (P3); a second call changes nothing. */
export async function endWorker(trx: Trx, id: string, at: string): Promise<void> {
  await freeClaims(trx, id);
  await trx
    .updateTable('workers')
    .set({ ended_at: at })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** The name of a process's liveness lock, where machines share a ledger. */
export function lifeOf(workerId: string): string {
  return `worker ${workerId}`;
}

/** Whether a process of this kind lives on any machine of a ledger on PostgreSQL; false for a ledger in a file. */
export async function livesAnywhere(
  { db, session }: Pick<Ledger, 'db' | 'session'>,
  kind: string,
): Promise<boolean> {
  if (!session) return false;
  const open = db.selectFrom('workers').select('id').where('ended_at', 'is', null);
  for (const { id } of await open.where('kind', '=', kind).execute())
    if (!(await session.isFree(lifeOf(id)))) return true;
  return false;
}

/** Whether a process that works on the ledger began or ended since an instant, ISO UTC. */
export async function workedSince(db: Db, since: string): Promise<boolean> {
  const row = await db
    .selectFrom('workers')
    .select('id')
    .where((eb) => eb.or([eb('started_at', '>=', since), eb('ended_at', '>=', since)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
