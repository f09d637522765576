import type { Generated } from 'kysely';

/** The past of one job. */
export type JobTable = {
  job: string;
  last_run_at: string | null;
  last_success_at: string | null;
  /** JSON object: the counts of the last run, or why it did not do its work. */
  last_result: string | null;
  /** How the last run ended; `running`: it has not. */
  result_kind: Generated<JobKind | null>;
  /** The worker that is at it, or died in it. */
  runner: Generated<string | null>;
  /** The schedule that the last run followed; null: a person's command. */
  expression: Generated<string | null>;
  ended_at: Generated<string | null>;
  /** How often the last due time was tried again. */
  tries: Generated<bigint>;
};

/** How a run of a job stands; only `succeeded` did all of its work. */
export type JobKind = 'running' | JobEnd;
export type JobEnd = 'succeeded' | 'incomplete' | 'failed' | 'skipped';
