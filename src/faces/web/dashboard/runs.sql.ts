import { z } from 'zod';
import * as reconcileJob from '../../../../jobs/reconcile.ts';
import { allJobs } from '../../../core/runtime/jobs.sql.ts';
import { workerLives } from '../../../core/runtime/worker-lock.ts';
import type { Db, Ledger } from '../../../core/storage/ledger.ts';
import type { Run } from '../../../core/storage/tables/tables.ts';
import { latestRunFirst, newestCompleteRun } from '../../../watching/listing/listings.sql.ts';

/** Runs, the newest first, from `offset` on. */
export function newestRuns(db: Db, limit: number, offset: number): Promise<Run[]> {
  return db.selectFrom('runs').selectAll().orderBy(latestRunFirst).limit(limit).offset(offset).execute();
}

/** Where a run stands: it has no row yet, reads and compares the list, freezes its figures, or writes its files. */
type RunStep = 'begins' | 'reads' | 'freezes' | 'writes';

/** A reconciliation that has not ended. `seen`: transfers of the list that it has stored; `listed`: how many the last whole list had. */
export type UnendedRun = { since: string; run: string | null } & (
  | { kind: 'died' }
  | { kind: 'runs'; step: RunStep; seen: number; listed: number | null }
);

const jobNames: ReadonlySet<string> = new Set([reconcileJob.name, reconcileJob.fullName]);

/** The reconciliation that goes on, or the one whose process died during it and that none has followed; else null. */
export async function unendedRun(db: Db, ledger: Ledger): Promise<UnendedRun | null> {
  const [job] = await runningJobs(db);
  if (!job?.lastRunAt) return null;
  const since = job.lastRunAt;
  const row = await db
    .selectFrom('runs')
    .select(['id', 'finished_at', 'frozen'])
    .where('started_at', '>=', since)
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  const run = row?.id ?? null;
  if (job.runner === null || !(await workerLives(ledger, job.runner))) {
    // It may have ended in between.
    const [still] = await runningJobs(db);
    return still?.job === job.job && still.lastRunAt === since ? { since, run, kind: 'died' } : null;
  }
  if (!row) return { since, run, kind: 'runs', step: 'begins', seen: 0, listed: null };
  const step = row.finished_at === null ? 'reads' : row.frozen === null ? 'freezes' : 'writes';
  const { seen } = await db
    .selectFrom('listed')
    .select((eb) => eb.fn.countAll<bigint>().as('seen'))
    .where('run_id', '=', row.id)
    .executeTakeFirstOrThrow();
  return { since, run, kind: 'runs', step, seen: Number(seen), listed: await lastListed(db) };
}

/** Those noted as running, the one that began last first: one that died is forgotten when another begins. */
async function runningJobs(db: Db) {
  const running = (await allJobs(db)).filter(({ job, kind }) => jobNames.has(job) && kind === 'running');
  return running.toSorted((a, b) => ((a.lastRunAt ?? '') < (b.lastRunAt ?? '') ? 1 : -1));
}

const listedShape = z.object({ listed: z.number() });

async function lastListed(db: Db): Promise<number | null> {
  const last = await newestCompleteRun(db, []);
  if (!last) return null;
  const row = await db.selectFrom('runs').select('summary').where('id', '=', last.id).executeTakeFirst();
  const read = listedShape.safeParse(JSON.parse(row?.summary ?? 'null'));
  return read.success ? read.data.listed : null;
}
