/** The ways out. A heartbeat is a request without words, for a monitor that raises the alarm when none comes. */
export type AlertChannel = 'webhook' | 'mail' | 'heartbeat';

/**
 * `grows`: a further case is told at once. `seenBy`: who can see whether it stands. `all`: every process. `daemon`: one
 * that runs the schedules. `machine`: only processes on the machine that is the alert's subject. `daemon_here`: one of
 * these that runs the schedules. `asker_here`: one of these whose last request the service answered.
 */
type AlertRules = { grows: boolean; seenBy: 'all' | 'daemon' | 'machine' | 'daemon_here' | 'asker_here' };

/** What people are told at once (docs/alerts.md). */
const rules = {
  sending_halted: { grows: false, seenBy: 'all' },
  payout_unknown: { grows: true, seenBy: 'all' },
  /** Much earlier than `payout_unknown`, which follows the quiet period. */
  outcome_unknown: { grows: true, seenBy: 'all' },
  discrepancy_high: { grows: true, seenBy: 'all' },
  batch_held: { grows: false, seenBy: 'all' },
  canary_failed: { grows: false, seenBy: 'all' },
  receiver_silent: { grows: false, seenBy: 'daemon' },
  signatures_wrong: { grows: false, seenBy: 'all' },
  service_silent: { grows: false, seenBy: 'asker_here' },
  schedule_missed: { grows: false, seenBy: 'daemon' },
  schedule_failed: { grows: false, seenBy: 'daemon' },
  queue_stuck: { grows: false, seenBy: 'daemon_here' },
  certificate_ends: { grows: false, seenBy: 'machine' },
  file_rejected: { grows: true, seenBy: 'all' },
  disk_low: { grows: false, seenBy: 'machine' },
} satisfies Record<string, AlertRules>;
export type AlertKind = keyof typeof rules;
export const alertRules: Readonly<Record<AlertKind, AlertRules>> = rules;
