import { later } from '../ledger/projection.ts';
import type { Db, Ledger } from '../storage/ledger.ts';
import type { JobEnd, JobKind } from '../storage/tables/job-table.ts';

/** A job's recorded past; instants are ISO UTC. */
export type JobPast = {
  job: string;
  lastRunAt: string | null;
  /** The start of the last run that did all of its work. */
  lastSuccessAt: string | null;
  kind: JobKind | null;
  /** JSON object: the counts of the last run, or why it did not do its work. */
  lastResult: string | null;
  endedAt: string | null;
  /** The worker that is running it, or died during it; null when the last run ended. */
  runner: string | null;
  /** The schedule of the last run; null: a person's command. */
  expression: string | null;
  /** How often the last due time was retried. */
  tries: number;
};

export type JobRun = {
  at: string;
  by: string;
  /** The schedule of the run; null: a person's command. */
  expression: string | null;
  /** A retry of a due time that ran already. */
  again?: boolean;
};

export type JobsStore = {
  all(): Promise<JobPast[]>;
  find(job: string): Promise<JobPast | undefined>;
  /**
   * Claims the run that is due at `at`, unless a process began one at `since` or later. One process takes each due
   * time, however many run the same schedule on this ledger.
   */
  begin(job: string, run: JobRun & { since: string }): Promise<boolean>;
  /** Records a run that a person ordered, whatever ran before. */
  note(job: string, run: JobRun): Promise<void>;
  /**
   * Records how the run that began at `startedAt` ended, unless another has begun since; a success counts from its start.
   */
  finished(
    job: string,
    run: { startedAt: string; endedAt: string; kind: JobEnd; result: object },
  ): Promise<void>;
};

/** A recorded start further ahead than this shows that the clock was set back since. */
const aheadMs = 60_000;

/** Stores the past of the jobs in the ledger, because the scheduler forgets it at each stop. */
export function createJobsStore(ledger: Ledger): JobsStore {
  const running = ({ at, by, expression, again = false }: JobRun) => ({
    last_run_at: at,
    last_result: null,
    result_kind: 'running' as const,
    runner: by,
    expression,
    ended_at: null,
    ...(!again && { tries: 0n }),
  });

  return {
    all: () => allJobs(ledger.db),
    find: async (name) => (await allJobs(ledger.db)).find(({ job }) => job === name),
    begin: (job, run) =>
      ledger.write(async (trx) => {
        const taken = await trx
          .insertInto('jobs')
          .values({ job: job, last_success_at: null, ...running(run) })
          .onConflict((conflict) =>
            conflict
              .column('job')
              .doUpdateSet((eb) => ({
                ...running(run),
                ...(run.again && { tries: eb('jobs.tries', '+', 1n) }),
              }))
              .where((eb) =>
                eb.or([
                  eb('jobs.last_run_at', 'is', null),
                  eb('jobs.last_run_at', '<', run.since),
                  eb('jobs.last_run_at', '>', later(run.at, aheadMs)),
                ]),
              ),
          )
          .returning('job')
          .execute();
        return taken.length > 0;
      }),
    note: (job, run) =>
      ledger.write(async (trx) => {
        await trx
          .insertInto('jobs')
          .values({ job: job, last_success_at: null, ...running(run) })
          .onConflict((conflict) => conflict.column('job').doUpdateSet(running(run)))
          .execute();
      }),
    finished: (job, { startedAt, endedAt, kind, result }) =>
      ledger.write(async (trx) => {
        const success = kind === 'succeeded' && { last_success_at: startedAt };
        await trx
          .updateTable('jobs')
          .set({
            last_result: JSON.stringify(result),
            result_kind: kind,
            runner: null,
            ended_at: endedAt,
            ...success,
          })
          .where('job', '=', job)
          .where('last_run_at', '=', startedAt)
          .execute();
      }),
  };
}

/** The past of every job. */
export async function allJobs(db: Db): Promise<JobPast[]> {
  const rows = await db.selectFrom('jobs').selectAll().orderBy('job').execute();
  return rows.map((row) => ({
    job: row.job,
    lastRunAt: row.last_run_at,
    lastSuccessAt: row.last_success_at,
    kind: row.result_kind,
    lastResult: row.last_result,
    endedAt: row.ended_at,
    runner: row.runner,
    expression: row.expression,
    tries: Number(row.tries),
  }));
}
