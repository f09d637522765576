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
/** A command that helps with a finding. */
export type HelpingVerb =
  | 'approve'
  | 'backup'
  | 'discrepancies'
  | 'doctor'
  | 'reconcile'
  | 'release'
  | 'restore'
  | 'retry'
  | 'serve'
  | 'status';

/**
 * `high`: money or all work is at stake. `verb`: the command that helps, or that says more; null: none can. `next`:
 * `status` names it as the next step. `status` and `today` say that
 * nothing waits, so each kind says what they show of it; null: another kind covers it there, or nobody can see it
 * (test/findings/faces.test.ts has the reason). `doctor` fails for those that it names, and counts those of `status`.
 */
type FindingRule = {
  gravity: 'high' | 'medium';
  verb: HelpingVerb | null;
  next?: true;
  faces: { alerts?: Alerted; ready?: Readied; status: Shown | null; doctor?: Shown; today: Shown | null };
};

const told = (seenBy: Alerted['seenBy'], shown: Shown = {}, grows = false): Alerted => ({
  ...shown,
  ...{ seenBy, grows },
});
const minuteMs = 60_000;
/** How long the operator's own server may take to decide about a batch. */
export const answerMs = 15 * minuteMs;
const mib = 1024 * 1024;
const always: Shown = {};
/** What a person sees everywhere; what the pages alone show; what they do not show. */
const alike = (shown: Shown) => ({ status: shown, doctor: shown, today: shown });
const everywhere = alike(always);
const onPages = { status: always, today: always };
const nowhere = { status: null, today: null };

/**
 * Everything that can be wrong or wait: how grave it is, what helps, and which face shows it from which measure on. The
 * order is that in which it is listed, and in which something helps.
 */
const kinds = {
  starting: { gravity: 'high', verb: null, faces: { ready: { check: 'start' }, ...nowhere } },
  ledger_away: { gravity: 'high', verb: null, faces: { ready: { check: 'ledger' }, ...nowhere } },
  ledger_unwritable: { gravity: 'high', verb: 'doctor', faces: { ready: { check: 'ledger' }, ...nowhere } },
  ledger_unreadable: { gravity: 'high', verb: 'doctor', faces: { ready: {}, ...nowhere } },
  ledger_behind: { gravity: 'high', verb: 'restore', faces: { ready: { check: 'ledger' }, ...nowhere } },
  sending_halted: {
    gravity: 'high',
    verb: 'release',
    // `doctor` words the whole halt.
    faces: { alerts: told('all'), ...onPages },
  },
  canary_failed: { gravity: 'high', verb: 'release', faces: { alerts: told('all'), ...onPages } },
  discrepancy_open: { gravity: 'medium', verb: 'discrepancies', next: true, faces: onPages },
  // A `serve` that cannot reach it sends by itself: `status` has a line of it, and no exit code.
  queue_stuck: {
    gravity: 'high',
    verb: 'doctor',
    faces: { alerts: told('daemon_here'), ready: { check: 'queue' }, status: null, today: null },
  },
  /** Measured by the age of the oldest. Without `serve` nothing may apply it for minutes, and that is no fault. */
  webhooks_overdue: {
    gravity: 'high',
    verb: 'doctor',
    faces: {
      ready: { check: 'webhooks', over: minuteMs },
      status: { over: 5 * minuteMs },
      doctor: { over: 5 * minuteMs },
      today: null,
    },
  },
  /** Measured by the age of the oldest: a running process asks it within seconds. */
  look_ups_overdue: {
    gravity: 'high',
    verb: 'doctor',
    faces: {
      ready: { check: 'look_ups', over: 5 * minuteMs },
      status: { over: 5 * minuteMs },
      doctor: { over: 5 * minuteMs },
      today: null,
    },
  },
  /** Measured by the time since its last success: a job that runs every minute and failed once is no alert yet. */
  schedule_failed: {
    gravity: 'high',
    verb: 'doctor',
    next: true,
    faces: { alerts: told('daemon', { over: graceMs }), ready: { check: 'schedules' }, ...everywhere },
  },
  schedule_missed: {
    gravity: 'high',
    verb: 'doctor',
    next: true,
    faces: { alerts: told('daemon'), ready: { check: 'schedules' }, ...everywhere },
  },
  /** Measured by the free bytes: the next intake, journal or report would not fit. */
  disk_full: {
    gravity: 'high',
    verb: 'doctor',
    faces: { ready: { check: 'disk', under: 64 * mib }, ...nowhere },
  },
  disk_unseen: {
    gravity: 'high',
    verb: 'doctor',
    faces: { ready: { check: 'disk' }, status: always, today: null },
  },
  /** Unknown past the quiet period (P19). */
  payout_unknown: {
    gravity: 'high',
    verb: 'reconcile',
    faces: { alerts: told('all', {}, true), ...nowhere },
  },
  /** Measured by the time since its last attempt ended. */
  outcome_unknown: {
    gravity: 'high',
    verb: 'reconcile',
    next: true,
    faces: { alerts: told('all', { over: 15 * minuteMs }, true), ...onPages },
  },
  /** Failed payouts alone are no exit code: `status` counts them with their batch. */
  payout_unpaid: { gravity: 'medium', verb: 'retry', faces: { status: null, today: always } },
  /** Measured by its reasons that no person gave: who held a batch knows of it. */
  batch_held: { gravity: 'medium', verb: 'release', faces: { alerts: told('all', { over: 0 }), ...onPages } },
  /** Measured by the time since the operator's own server was asked first. `batch_held` is told once it is over. */
  approval_unanswered: { gravity: 'medium', verb: 'approve', faces: alike({ over: answerMs }) },
  discrepancy_high: {
    gravity: 'high',
    verb: 'discrepancies',
    faces: { alerts: told('all', {}, true), ...nowhere },
  },
  file_rejected: {
    gravity: 'medium',
    verb: 'status',
    faces: { alerts: told('all', {}, true), ...everywhere },
  },
  /** A promised file was lost, or differs in the archive from what was read (P34). */
  file_lost: { gravity: 'medium', verb: 'doctor', faces: everywhere },
  /**
   * Measured by the payouts that were named. Anybody may forge one webhook: a page says so, and an exit code waits for
   * more.
   */
  signatures_wrong: {
    gravity: 'high',
    verb: 'doctor',
    faces: { alerts: told('all'), status: { over: 2 }, today: always },
  },
  receiver_silent: { gravity: 'high', verb: 'doctor', faces: { alerts: told('daemon'), ...onPages } },
  service_silent: {
    gravity: 'high',
    verb: 'doctor',
    faces: { alerts: told('asker_here'), status: null, today: always },
  },
  /** Measured by the days left. */
  certificate_ends: {
    gravity: 'high',
    verb: 'doctor',
    faces: { alerts: told('machine', { under: warnDays }), ...alike({ under: warnDays }) },
  },
  /** Measured by the bytes free beyond a backup of the ledger: a large intake's journal and the reports need some. */
  disk_low: {
    gravity: 'high',
    verb: 'doctor',
    faces: { alerts: told('machine', { under: 256 * mib }), ...alike({ under: 256 * mib }) },
  },
  /** Nothing but an unanswered question before payment keeps the batch (P32). */
  answer_awaited: { gravity: 'medium', verb: 'release', faces: onPages },
  /** Ready payouts of a batch whose file cannot be checked (P34). */
  payout_kept: { gravity: 'medium', verb: 'doctor', faces: onPages },
  /** Ready payouts, and nothing that sends has run for an hour. */
  sending_idle: { gravity: 'high', verb: 'serve', faces: { status: always, today: null } },
  backup_late: { gravity: 'medium', verb: 'backup', faces: everywhere },
  /** Messages were given up: somebody was not told. */
  message_lost: { gravity: 'medium', verb: 'doctor', faces: everywhere },
  /** The receiver of events answers none, or some were given up: its program may believe what is no longer so (P39). */
  events_undelivered: { gravity: 'medium', verb: 'doctor', faces: everywhere },
  /** The last reconciliation compared nothing, or something differs. */
  run_unsound: { gravity: 'medium', verb: 'reconcile', faces: onPages },
} satisfies Record<string, FindingRule>;

export type FindingKind = keyof typeof kinds;
type Faces<K extends FindingKind> = (typeof kinds)[K]['faces'];
/** The faces that show a kind. */
export type FacesOf<K extends FindingKind> = {
  [F in keyof Faces<K>]: Faces<K>[F] extends null ? never : F;
}[keyof Faces<K>];
/** The kinds that a face shows. */
export type KindsOn<F extends FindingFace> = {
  [K in FindingKind]: F extends FacesOf<K> ? K : never;
}[FindingKind];
export type AlertKind = KindsOn<'alerts'>;

/** In the order of the list. */
export const findingKinds = Object.keys(kinds).filter((name): name is FindingKind => name in kinds);
export const findingRules: Readonly<Record<FindingKind, FindingRule>> = kinds;
export const alertRules: Readonly<Record<AlertKind, { faces: { alerts: Alerted } }>> = kinds;

/** Reads the kind of an alert from text of the ledger. */
export const alertKind = z.custom<AlertKind>(
  (name) => new Map(Object.entries<FindingRule>(kinds)).get(String(name))?.faces.alerts !== undefined,
);
