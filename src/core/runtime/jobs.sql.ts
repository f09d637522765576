import { later } from '../domain/wait.ts';
import { isHostJob } from '../settings/schedule-list.ts';
import type { Db, Ledger } from '../storage/ledger.ts';
import type { JobEnd, JobKind } from '../storage/tables/job-table.ts';
import { type Host, onlyHost } from './host.ts';

/** A job's recorded past; instants are ISO UTC. */
export type JobPast = {
  job: string;
  /** The host whose folders it works in, by id and by name; both empty for a job of the whole ledger. */
  host: string;
  place: string;
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

export type EndedRun = { startedAt: string; endedAt: string; kind: JobEnd; result: object };

export type JobsStore = {
  /** Of every host. */
  all(): Promise<JobPast[]>;
  /** Of this host and of the whole ledger. */
  own(): Promise<JobPast[]>;
  /** Deletes the past of jobs of hosts that are gone, unless one has begun a run since. */
  forget(pasts: readonly JobPast[]): Promise<void>;
  find(job: string): Promise<JobPast | undefined>;
  /**
   * Claims the run that is due at `at`, unless a process began one at `since` or later. One process takes each due
   * time, however many run the same schedule on this ledger. For a job in a host's folders, one process of each host
   * does.
   */
  begin(job: string, run: JobRun & { since: string }): Promise<boolean>;
  /** Records a run that a person ordered, whatever ran before. */
  note(job: string, run: JobRun): Promise<void>;
  /**
   * Records how the run that began at `startedAt` ended, unless another has begun since, or its end was corrected
   * already. A success counts from its start.
   */
  finished(job: string, run: EndedRun): Promise<void>;
  /** Records how work ended that the run only set going, whether the run itself has ended or not. */
  corrected(job: string, run: EndedRun): Promise<void>;
};

/** A recorded start further ahead than this shows that the clock was set back since. */
const aheadMs = 60_000;

/** Stores the past of the jobs in the ledger, because the scheduler forgets it at each stop. `host`: this process's. */
export function createJobsStore(ledger: Ledger, host: Host = onlyHost): JobsStore {
  const hostOfJob = (job: string): Host => (isHostJob(job) ? host : onlyHost);
  const own = async (): Promise<JobPast[]> =>
    (await allJobs(ledger.db)).filter((past) => isOwnJob(past, host));
  const keyOf = (job: string) => ({ job, host: hostOfJob(job).id, place: hostOfJob(job).name });
  const running = ({ at, by, expression, again = false }: JobRun) => ({
    last_run_at: at,
    last_result: null,
    result_kind: 'running' as const,
    runner: by,
    expression,
    ended_at: null,
    ...(!again && { tries: 0n }),
  });
  const end = (
    job: string,
    { startedAt, endedAt, kind, result }: EndedRun,
    from: readonly JobKind[],
  ): Promise<void> =>
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
        .where('host', '=', keyOf(job).host)
        .where('last_run_at', '=', startedAt)
        .where('result_kind', 'in', from)
        .execute();
    });

  return {
    all: () => allJobs(ledger.db),
    own,
    forget: (pasts) =>
      ledger.write(async (trx) => {
        for (const { job, host: gone, lastRunAt } of pasts)
          await trx
            .deleteFrom('jobs')
            .where('job', '=', job)
            .where('host', '=', gone)
            .where('last_run_at', '=', lastRunAt)
            .execute();
      }),
    find: async (name) => (await own()).find(({ job }) => job === name),
    begin: (job, run) =>
      ledger.write(async (trx) => {
        const taken = await trx
          .insertInto('jobs')
          .values({ ...keyOf(job), last_success_at: null, ...running(run) })
          .onConflict((conflict) =>
            conflict
              .columns(['job', 'host'])
              .doUpdateSet((eb) => ({
                ...running(run),
                place: keyOf(job).place,
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
          .values({ ...keyOf(job), last_success_at: null, ...running(run) })
          .onConflict((conflict) => conflict.columns(['job', 'host']).doUpdateSet(running(run)))
          .execute();
      }),
    finished: (job, run) => end(job, run, ['running']),
    corrected: (job, run) => end(job, run, ['running', 'succeeded', 'incomplete', 'failed', 'skipped']),
  };
}

/** The past of every job, of every host. */
export async function allJobs(db: Db): Promise<JobPast[]> {
  const rows = await db.selectFrom('jobs').selectAll().orderBy('job').orderBy('host').execute();
  return rows.map((row) => ({
    job: row.job,
    host: row.host,
    place: row.place,
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

/** The name for people of a host that ran a job; empty for one that is not known. */
export async function hostNamed(db: Db, id: string): Promise<string> {
  const jobs = await db
    .selectFrom('jobs')
    .select('place')
    .where('host', '=', id)
    .where('host', '<>', '')
    .execute();
  return jobs.find(({ place }) => place !== '')?.place ?? '';
}

/** Whether it is a job of the whole ledger, or of this host. */
export function isOwnJob(past: Pick<JobPast, 'job' | 'host'>, host: Pick<Host, 'id'>): boolean {
  return past.host === (isHostJob(past.job) ? host.id : '');
}

/** The job's name for people, with the host that it works on where there are several. */
export function jobName({ job, place }: Pick<JobPast, 'job' | 'place'>): string {
  return place === '' ? job : `${job} on ${place}`;
}
