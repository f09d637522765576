import type { Logger } from './logger.ts';

/** What the fields of events hold. Never an account number, a name or a secret. */
type Fields = {
  batch: string;
  run: string;
  /** A payout's reference; null where the event is about no single one. */
  reference: string | null;
  job: string;
  /** A file in the inbox. */
  file: string;
  rows: number;
  /** Amounts by currency, plain decimals. */
  totals: Readonly<Record<string, string>>;
  /** Numbers of payouts by state or by outcome. */
  counts: Readonly<Record<string, number>>;
  /** The kind of a halt. */
  cause: string;
  verdict: string;
  /** Transfers that a run read. */
  listed: number;
  /** Open discrepancies. */
  open: number;
  /** Why something did not succeed; null where it did. */
  error: string | null;
  why: string;
  /** How a job ended that did not fail. */
  result: 'incomplete' | 'skipped';
  /** Numbers of rejected deliveries by reason. */
  rejected: Readonly<Record<string, number>>;
  /** Network addresses, a few. */
  sources: readonly string[];
  last_success_at: string | null;
  /** The path of the configuration file. */
  configuration: string;
  /** The address of the service. */
  service: string;
  receiver: string | null;
  admin: string | null;
  /** Names of settings and secrets; never a value. */
  changed: readonly string[];
};

type Spec = { level: 'info' | 'warn' | 'error'; fields: readonly (keyof Fields)[] };

/** The events of the log, with level and fields (docs/monitoring.md, Events). */
export const logEvents = {
  started: { level: 'info', fields: ['configuration', 'service', 'receiver', 'admin'] },
  reloaded: { level: 'info', fields: ['changed'] },
  reload_refused: { level: 'error', fields: ['why'] },
  stopped: { level: 'info', fields: [] },
  failed: { level: 'error', fields: ['error'] },
  batch_taken: { level: 'info', fields: ['batch', 'rows', 'totals'] },
  batch_held: { level: 'warn', fields: ['batch'] },
  batch_released: { level: 'info', fields: ['batch'] },
  batch_sent: { level: 'info', fields: ['batch', 'counts'] },
  batch_done: { level: 'info', fields: ['batch', 'counts'] },
  batch_cancelled: { level: 'warn', fields: ['batch'] },
  file_refused: { level: 'warn', fields: ['file', 'why'] },
  payouts_sent: { level: 'info', fields: ['counts'] },
  sending_stopped: { level: 'warn', fields: ['why'] },
  halt_raised: { level: 'error', fields: ['cause', 'batch', 'reference'] },
  halt_lifted: { level: 'info', fields: ['cause', 'batch', 'reference'] },
  run_finished: { level: 'info', fields: ['run', 'verdict', 'listed', 'open', 'error'] },
  run_failed: { level: 'error', fields: ['job', 'error'] },
  webhook_rejected: { level: 'warn', fields: ['rejected', 'sources'] },
  schedule_missed: { level: 'warn', fields: ['job', 'last_success_at'] },
  job_incomplete: { level: 'warn', fields: ['job', 'result', 'why'] },
  job_failed: { level: 'error', fields: ['job', 'error'] },
  ledger_away: { level: 'error', fields: ['why'] },
  ledger_back: { level: 'info', fields: [] },
  queue_away: { level: 'warn', fields: ['why'] },
  queue_back: { level: 'info', fields: [] },
} as const satisfies Record<string, Spec>;

type LogEvent = keyof typeof logEvents;
type FieldsOf<E extends LogEvent> = {
  [F in (typeof logEvents)[E]['fields'][number]]: F extends 'batch' ? string | null : Fields[F];
};

/** Logs an event as one line. `text` says it to people; `err` adds the error's stack for the one who mends it. */
export function logEvent<E extends LogEvent>(
  log: Logger,
  event: E,
  { text, err, ...fields }: FieldsOf<E> & { text: string; err?: unknown },
): void {
  const entry: object = { event, ...fields, ...(err !== undefined && { err }) };
  log[logEvents[event].level](entry, text);
}

/** The words of an error, for a field. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
