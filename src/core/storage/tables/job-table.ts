import type { Generated } from 'kysely';

export type JobTable = {
  job: string;
  /** The host whose folders the job works in, by its id; empty: a job of the whole ledger. */
  host: string;
  /** That host's name for people, as of its last run. */
  place: string;
  last_run_at: string | null;
  last_success_at: string | null;
  /** JSON object: the counts of the last run, or why it did not do its work. */
  last_result: string | null;
  /** How the last run ended; `running`: it has not ended. */
  result_kind: Generated<JobKind | null>;
  /** The worker that is running it, or died during it. */
  runner: Generated<string | null>;
  /** The schedule of the last run; null: a person's command. */
  expression: Generated<string | null>;
  ended_at: Generated<string | null>;
  /** How often the last due time was retried. */
  tries: Generated<bigint>;
};

/** The state of a run of a job; only `succeeded` did all of its work. */
export type JobKind = 'running' | JobEnd;
export type JobEnd = 'succeeded' | 'incomplete' | 'failed' | 'skipped';
