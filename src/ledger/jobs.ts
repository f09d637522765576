import type { Ledger } from './open.ts';

/** What is known of a scheduled job's past; instants are ISO UTC, the result is JSON or `failed: why`. */
export type JobPast = {
  job: string;
  lastRunAt: string | null;
  lastSuccessAt: string | null;
  lastResult: string | null;
};

export type JobsStore = {
  all(): Promise<JobPast[]>;
  /** Notes that the job began at `at`. */
  started(job: string, at: string): Promise<void>;
  /** Notes how the run that began at `startedAt` ended; a success counts from its start. */
  finished(job: string, run: { startedAt: string; ok: boolean; result: string }): Promise<void>;
};

/** The past of scheduled jobs, kept in the ledger because the scheduler itself forgets it at each stop. */
export function createJobsStore(ledger: Ledger): JobsStore {
  return {
    async all() {
      const rows = await ledger.db.selectFrom('jobs').selectAll().orderBy('job').execute();
      return rows.map((row) => ({
        job: row.job,
        lastRunAt: row.last_run_at,
        lastSuccessAt: row.last_success_at,
        lastResult: row.last_result,
      }));
    },
    started: (job, at) =>
      ledger.write(async (trx) => {
        await trx
          .insertInto('jobs')
          .values({ job, last_run_at: at, last_success_at: null, last_result: null })
          .onConflict((conflict) => conflict.column('job').doUpdateSet({ last_run_at: at }))
          .execute();
      }),
    finished: (job, run) =>
      ledger.write(async (trx) => {
        await trx
          .updateTable('jobs')
          .set({ last_result: run.result, ...(run.ok && { last_success_at: run.startedAt }) })
          .where('job', '=', job)
          .execute();
      }),
  };
}
