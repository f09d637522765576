import type { Generated } from 'kysely';

/** The ways out. A heartbeat is a request without words, for a monitor that raises the alarm when none comes. */
export type AlertChannel = 'webhook' | 'mail' | 'heartbeat';

/** What people are told at once, and the messages on their way to them. */
export type AlertTables = { alerts: AlertTable; alert_messages: AlertMessageTable };

/** An alert that stands; it is deleted when it ends. */
type AlertTable = {
  /** An `AlertKind` (`findings/kinds.ts`). */
  kind: string;
  /** What it is about, such as a batch or a job; empty where the kind says it all. */
  subject: string;
  /** The largest number of cases that a message named. */
  n: bigint;
  /** The newest id of what it is about, as of its last message. */
  mark: bigint;
  raised_at: string;
  /** When it is repeated, and when that was decided, both by the clock that all processes share. */
  repeat_at: string;
  noted_at: string;
};

type AlertMessageTable = {
  id: Generated<bigint>;
  channel: AlertChannel;
  /** JSON: typed facts. The words are made when it is sent. */
  content: string;
  /** The run that it reports; one message a run and channel. */
  run_id: string | null;
  made_at: string;
  state: 'due' | 'sent' | 'gave_up';
  tries: Generated<bigint>;
  due_at: string;
  noted_at: string;
  /** The worker that is sending it, or died while it did. */
  claimed_by: string | null;
  /** Why the last try failed: a code such as `http_404`, never a text of the other side. */
  problem: string | null;
  ended_at: string | null;
};
