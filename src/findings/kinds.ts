import { z } from 'zod';
import { graceMs } from '../core/runtime/job-times.ts';
import { warnDays } from '../watching/webhooks/tls.ts';

/**
 * Who shows findings. `alerts`: a message at once (docs/alerts.md). `ready`: `/readyz`, and the dashboard with it. `status`:
 * its exit code 4. `doctor`: a check that failed. `today`: the dashboard's list of what needs a person.
 */
export type FindingFace = 'alerts' | 'ready' | 'status' | 'doctor' | 'today';

/** `over`: the face shows it once its measure is greater. `under`: once it is less. Neither: as soon as it is found. */
type Shown = { over?: number; under?: number };
/** `check`: its fixed name, which a monitor may read; absent: the finding's subject. */
type Readied = Shown & { check?: string };
/**
 * `grows`: a further case is told at once. `seenBy`: who can see whether it stands. `all`: every process. `daemon`: one
 * that runs the schedules. `machine`: only processes on the machine that is the finding's subject. `daemon_here`: one of
 * these that runs the schedules. `asker_here`: one of these whose last request the service answered.
 */
type Alerted = Shown & {
  grows: boolean;
  seenBy: 'all' | 'daemon' | 'machine' | 'daemon_here' | 'asker_here';
};
/** `high`: money or all work is at stake. `helps`: the command that `status` names next. */
type FindingRule = {
  gravity: 'high' | 'medium';
  helps?: 'discrepancies' | 'doctor' | 'reconcile';
  faces: { alerts?: Alerted; ready?: Readied; status?: Shown; doctor?: Shown; today?: Shown };
};

const minuteMs = 60_000;
const mib = 1024 * 1024;

/** Everything that can be wrong or wait: how grave it is, what helps, and which face shows it from which measure on. */
const kinds = {
  starting: { gravity: 'high', faces: { ready: { check: 'start' } } },
  ledger_away: { gravity: 'high', faces: { ready: { check: 'ledger' } } },
  ledger_unwritable: { gravity: 'high', faces: { ready: { check: 'ledger' } } },
  ledger_unreadable: { gravity: 'high', faces: { ready: {} } },
  ledger_behind: { gravity: 'high', faces: { ready: { check: 'ledger' } } },
  /** Measured by the age of the oldest. Without `serve` nothing may apply it for minutes, and that is no fault. */
  webhooks_overdue: {
    gravity: 'high',
    faces: { ready: { check: 'webhooks', over: minuteMs }, doctor: { over: 5 * minuteMs } },
  },
  /** Measured by the age of the oldest: a running process asks it within seconds. */
  look_ups_overdue: {
    gravity: 'high',
    faces: { ready: { check: 'look_ups', over: 5 * minuteMs }, doctor: { over: 5 * minuteMs } },
  },
  /** Measured by the free bytes: the next intake, journal or report would not fit. */
  disk_full: { gravity: 'high', faces: { ready: { check: 'disk', under: 64 * mib } } },
  disk_unseen: { gravity: 'high', faces: { ready: { check: 'disk' } } },
  sending_halted: {
    gravity: 'high',
    faces: { alerts: { grows: false, seenBy: 'all' }, status: {} },
  },
  /** Measured by its age, as of the quiet period (P19). */
  payout_unknown: {
    gravity: 'high',
    helps: 'reconcile',
    faces: { alerts: { grows: true, seenBy: 'all' }, status: {}, today: {} },
  },
  /** Much earlier than `payout_unknown`, which follows the quiet period. */
  outcome_unknown: {
    gravity: 'high',
    faces: { alerts: { over: 15 * minuteMs, grows: true, seenBy: 'all' } },
  },
  discrepancy_high: { gravity: 'high', faces: { alerts: { grows: true, seenBy: 'all' } } },
  batch_held: { gravity: 'medium', faces: { alerts: { grows: false, seenBy: 'all' }, today: {} } },
  canary_failed: { gravity: 'high', faces: { alerts: { grows: false, seenBy: 'all' } } },
  receiver_silent: { gravity: 'high', faces: { alerts: { grows: false, seenBy: 'daemon' } } },
  signatures_wrong: { gravity: 'high', faces: { alerts: { grows: false, seenBy: 'all' } } },
  service_silent: { gravity: 'high', faces: { alerts: { grows: false, seenBy: 'asker_here' } } },
  schedule_missed: {
    gravity: 'high',
    helps: 'doctor',
    faces: {
      alerts: { grows: false, seenBy: 'daemon' },
      ready: { check: 'schedules' },
      status: {},
      doctor: {},
    },
  },
  /** Measured by the time since its last success: a job that runs every minute and failed once is no alert yet. */
  schedule_failed: {
    gravity: 'high',
    helps: 'doctor',
    faces: {
      alerts: { over: graceMs, grows: false, seenBy: 'daemon' },
      ready: { check: 'schedules' },
      status: {},
      doctor: {},
    },
  },
  queue_stuck: {
    gravity: 'high',
    faces: { alerts: { grows: false, seenBy: 'daemon_here' }, ready: { check: 'queue' } },
  },
  /** Measured by the days left. */
  certificate_ends: {
    gravity: 'high',
    faces: { alerts: { under: warnDays, grows: false, seenBy: 'machine' }, doctor: { under: warnDays } },
  },
  file_rejected: {
    gravity: 'medium',
    faces: { alerts: { grows: true, seenBy: 'all' }, status: {}, today: {} },
  },
  /** Measured by the bytes free beyond a backup of the ledger: a large intake's journal and the reports need some. */
  disk_low: {
    gravity: 'high',
    faces: { alerts: { under: 256 * mib, grows: false, seenBy: 'machine' }, doctor: { under: 256 * mib } },
  },
  discrepancy_open: { gravity: 'medium', helps: 'discrepancies', faces: { status: {}, today: {} } },
  payout_held: { gravity: 'medium', faces: { status: {} } },
  /** Nothing but an unanswered question before payment keeps the batch (P32). */
  answer_awaited: { gravity: 'medium', faces: { today: {} } },
  /** Ready payouts that a failed canary, a file or an unanswered question keeps. */
  payout_kept: { gravity: 'medium', faces: { status: {} } },
  /** Ready payouts, and nothing that sends has run for an hour. */
  sending_idle: { gravity: 'high', faces: { status: {} } },
  /** The last reconciliation compared nothing, or something differs. */
  run_unsound: { gravity: 'medium', faces: { status: {}, today: {} } },
  /** Messages were given up: somebody was not told. */
  message_lost: { gravity: 'medium', faces: { status: {} } },
} satisfies Record<string, FindingRule>;

export type FindingKind = keyof typeof kinds;
/** The kinds that a face shows. */
export type KindsOn<F extends FindingFace> = {
  [K in FindingKind]: F extends keyof (typeof kinds)[K]['faces'] ? K : never;
}[FindingKind];
export type FacesOf<K extends FindingKind> = keyof (typeof kinds)[K]['faces'];
export type AlertKind = KindsOn<'alerts'>;

export const findingRules: Readonly<Record<FindingKind, FindingRule>> = kinds;
export const alertRules: Readonly<Record<AlertKind, { faces: { alerts: Alerted } }>> = kinds;

/** Reads the kind of an alert from text of the ledger. */
export const alertKind = z.custom<AlertKind>(
  (name) => new Map(Object.entries<FindingRule>(kinds)).get(String(name))?.faces.alerts !== undefined,
);
