import type { Ledger } from './open.ts';

/** What is known of a scheduled job's past; instants are ISO UTC, the result is JSON or `failed: why`. */
export type JobPast = {
  job: string;
  lastRunAt: string | null;
  lastSuccessAt: string | null;
  lastResult: string | null;
  /** The worker that is at it, or died in it; null when the last run ended. */
  runner: string | null;
};

export type JobsStore = {
  all(): Promise<JobPast[]>;
  /**
   * Takes the run that is due at `at`, unless some process began one at `since` or later: so each due time is one
   * process's, however many run the same schedule on this ledger.
   */
  begin(job: string, run: { at: string; since: string; by: string }): Promise<boolean>;
  /** Notes how the run that began at `startedAt` ended; a success counts from its start. */
  finished(job: string, run: { startedAt: string; ok: boolean; result: string }): Promise<void>;
};

/** What stands for the result of a run under way. */
const running = /^\{"running":"([^"]+)"\}$/;

/** A run that began further ahead than this was noted under a clock that was set back since. */
const aheadMs = 60_000;

/** The past of the scheduled jobs, kept in the ledger because the scheduler itself forgets it at each stop. */
export function createJobsStore(ledger: Ledger): JobsStore {
  return {
    async all() {
      const rows = await ledger.db.selectFrom('jobs').selectAll().orderBy('job').execute();
      return rows.map((row) => ({
        job: row.job,
        lastRunAt: row.last_run_at,
        lastSuccessAt: row.last_success_at,
        lastResult: row.last_result,
        runner: running.exec(row.last_result ?? '')?.[1] ?? null,
      }));
    },
    begin: (job, { at, since, by }) =>
      ledger.write(async (trx) => {
        const last_result = JSON.stringify({ running: by });
        const ahead = new Date(Date.parse(at) + aheadMs).toISOString();
        const taken = await trx
          .insertInto('jobs')
          .values({ job, last_run_at: at, last_success_at: null, last_result })
          .onConflict((conflict) =>
            conflict
              .column('job')
              .doUpdateSet({ last_run_at: at, last_result })
              .where((eb) =>
                eb.or([
                  eb('jobs.last_run_at', 'is', null),
                  eb('jobs.last_run_at', '<', since),
                  eb('jobs.last_run_at', '>', ahead),
                ]),
              ),
          )
          .returning('job')
          .execute();
        return taken.length > 0;
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
