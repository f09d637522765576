import { decidedSince } from '../books/discrepancies/decided-since.sql.ts';
import { isReadySince } from '../books/overview.sql.ts';
import { lastRun } from '../books/run-verdicts.sql.ts';
import type { ServiceAccount } from '../core/domain/origin.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { needsAPerson } from '../core/domain/verdict.ts';
import { findFallBarrier } from '../core/ledger/barriers.ts';
import { lookUpLag } from '../core/ledger/inquiry-claims.ts';
import { foreignOrigins } from '../core/ledger/origins.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Host } from '../core/runtime/host.ts';
import { allJobs, isOwnJob } from '../core/runtime/jobs.sql.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Db, Ledger } from '../core/storage/ledger.ts';
import { fileWaits } from '../intake/confirm.ts';
import { batchesAwaitingCheck } from '../sending/precheck.sql.ts';
import { webhookLag } from '../watching/webhooks/webhook-tallies.sql.ts';
import { undelivered } from './event-standing.sql.ts';
import { backupFindings, backupStanding, isStuck, lostFindings } from './file-findings.ts';
import { type Finding, isShown, plainFinding } from './finding.ts';
import { type JobFinding, type JobSchedule, jobFindings, type Working } from './job-findings.ts';
import { type FindingFace, type FindingKind, findingKinds, findingRules, type KindsOn } from './kinds.ts';
import {
  discrepancyFindings,
  haltFindings,
  heldFindings,
  openFindings,
  rejectedFindings,
  signatureFindings,
  unansweredFindings,
  unknownFindings,
  unpaidFindings,
} from './ledger-findings.sql.ts';
import {
  certificateFinding,
  diskFindings,
  type ProbedQueue,
  queueFindings,
  unwritable,
} from './machine-findings.ts';
import { lostMessages, ownStandings } from './outbox-standing.sql.ts';
import { findSilence } from './silence.sql.ts';

/** What a process looks at, and what it alone knows. What is absent it cannot see, and finds nothing of it. */
export type Scene = {
  face: FindingFace;
  /** A reader beside the ledger, or the transaction that decides. */
  db: Db;
  ledger: Ledger;
  clock: Clock;
  config: Config;
  account: ServiceAccount | null;
  /** This machine among those that share the ledger: the subject of what a process elsewhere cannot see. */
  machine?: string;
  work: Working;
  jobs: readonly JobSchedule[];
  /** Only the jobs of this host and of the whole ledger count. */
  ownHost?: Host;
  /** Writes to the ledger. */
  probe?: () => Promise<void>;
  /** Passes a job through each. */
  queues?: () => readonly ProbedQueue[];
  /** What is known of the queue without asking it. */
  isQueueStuck?: boolean;
  /** Whether this process's requests are answered. */
  service?: 'answers' | 'silent' | undefined;
};

type Finder<K extends FindingKind> = (scene: Scene) => Promise<readonly Finding<K>[]>;

const hourMs = 3_600_000;
/** What the process that knows it says itself, since nothing can be looked at meanwhile. */
const saidByItself = async (): Promise<[]> => [];

/** Finds what is wrong or waits: one finder a kind. */
export const finders: { readonly [K in FindingKind]: Finder<K> } = {
  starting: saidByItself,
  ledger_away: saidByItself,
  /** From each finder that could not read the ledger: see `findOn`. */
  ledger_unreadable: saidByItself,
  ledger_unwritable: async ({ probe, clock }) => (probe ? unwritable(clock, probe) : []),
  // P25: nothing is sent until the ledger is adopted.
  ledger_behind: async ({ db }) => {
    const fall = await findFallBarrier(db);
    if (!fall) return [];
    const { at, why, advice } = fall;
    return [{ ...plainFinding('ledger_behind'), since: at, facts: { why, advice } }];
  },
  sending_halted: async ({ db, ledger }) => only('sending_halted', await haltFindings(db, ledger)),
  canary_failed: async ({ db, ledger, clock, config: { submission } }) =>
    only('canary_failed', await haltFindings(db, ledger, { at: clock.iso(), hours: submission.canaryHours })),
  discrepancy_open: ({ db }) => openFindings(db),
  queue_stuck: async ({ clock, queues, isQueueStuck = false, machine = '' }) => {
    if (queues) return queueFindings(clock, queues());
    return isQueueStuck ? [{ ...plainFinding('queue_stuck', machine), facts: { why: null } }] : [];
  },
  webhooks_overdue: async ({ db, clock }) => {
    const { unapplied, oldestUnapplied: since } = await webhookLag(db);
    if (since === null) return [];
    // Of a webhook from before the clock was set back nobody knows how long it waits.
    const waitsMs = clock.now() - Date.parse(since);
    const plain = plainFinding('webhooks_overdue', '', unapplied);
    return [{ ...plain, since, measure: Math.abs(waitsMs), facts: { waitsMs } }];
  },
  look_ups_overdue: async ({ db, clock }) => {
    const { due, oldestDue: since } = await lookUpLag(db, clock.iso());
    if (since === null) return [];
    return [
      { ...plainFinding('look_ups_overdue', '', due), since, measure: clock.now() - Date.parse(since) },
    ];
  },
  schedule_failed: async (scene) => only('schedule_failed', await scheduleFindings(scene)),
  schedule_missed: async (scene) => only('schedule_missed', await scheduleFindings(scene)),
  disk_full: async ({ config, machine }) => only('disk_full', await diskFindings(config, machine ?? '')),
  disk_low: async ({ config, machine }) => only('disk_low', await diskFindings(config, machine ?? '')),
  disk_unseen: async ({ config, machine }) => only('disk_unseen', await diskFindings(config, machine ?? '')),
  payout_unknown: ({ db, clock, config }) =>
    unknownFindings(db, 'payout_unknown', { at: clock.iso(), overMs: quietMsOf(config) }),
  outcome_unknown: async ({ face, db, clock, config }) => {
    const overMs = findingRules.outcome_unknown.faces[face]?.over ?? null;
    // Past the quiet period it is `payout_unknown`.
    if (face === 'alerts' && quietMsOf(config) <= (overMs ?? 0)) return [];
    return unknownFindings(db, 'outcome_unknown', { at: clock.iso(), overMs });
  },
  payout_unpaid: ({ db }) => unpaidFindings(db),
  batch_held: ({ db, clock, config }) => heldFindings(db, isCallback(config) ? clock.now() : null),
  approval_unanswered: async ({ db, clock, config }) =>
    isCallback(config) ? unansweredFindings(db, clock.now()) : [],
  discrepancy_high: ({ db, clock }) => discrepancyFindings(db, clock.iso()),
  file_rejected: ({ db }) => rejectedFindings(db),
  file_lost: ({ db, clock }) => lostFindings(db, clock.now()),
  signatures_wrong: async ({ db, config }) => (config.receiver.enabled ? signatureFindings(db) : []),
  receiver_silent: async (scene) =>
    scene.config.receiver.enabled ? (await findSilence(scene.db, silenceOf(scene))).findings : [],
  service_silent: async ({ service, machine = '' }) =>
    service === 'silent' ? [plainFinding('service_silent', machine)] : [],
  certificate_ends: async ({ config: { receiver }, clock, machine = '' }) => {
    const found = receiver.enabled
      ? await certificateFinding(receiver, { machine, nowMs: clock.now() })
      : null;
    return found ? [found] : [];
  },
  answer_awaited: async ({ db, clock, config: { service, submission } }) => {
    const { balance, account_name: name } = service.extras;
    const day = dayOf(clock.iso(), submission.timezone);
    const waits = balance === '' && name === '' ? [] : await batchesAwaitingCheck(db, day);
    return waits.map(({ batch, count }) => plainFinding('answer_awaited', batch, count));
  },
  payout_kept: async ({ ledger, clock, config }) =>
    (await fileWaits(ledger, dayOf(clock.iso(), config.submission.timezone))).flatMap(
      ({ batch, count, why }) => (isStuck(why) ? [plainFinding('payout_kept', batch, count)] : []),
    ),
  sending_idle: async ({ db, clock, work, config }) => {
    const hourAgo = new Date(clock.now() - hourMs).toISOString();
    const day = dayOf(hourAgo, config.submission.timezone);
    return work === 'idle' && (await isReadySince(db, hourAgo, day)) ? [plainFinding('sending_idle')] : [];
  },
  backup_late: async (scene) => backupFindings(backupStanding(scene)),
  events_undelivered: ({ db, clock, config }) => undelivered(db, { config, nowMs: clock.now() }),
  message_lost: async ({ db, config }) => lostMessages(await ownStandings(db, config)),
  run_unsound: async ({ db, account }) => {
    const last = await lastRun(db, await foreignOrigins(db, account));
    if (!last || !needsAPerson(last.verdict)) return [];
    const { run, startedAt, verdict } = last;
    const decided = verdict === 'exceptions' ? await decidedSince(db, startedAt) : 0;
    return [{ ...plainFinding('run_unsound', run), facts: { startedAt, verdict, decided } }];
  },
};

/** What the watch for missing webhooks compares with. */
export function silenceOf({ clock, config }: Pick<Scene, 'clock' | 'config'>) {
  return { at: clock.iso(), graceMs: config.reconciliation.webhookGraceMinutes * 60_000 };
}

const isCallback = ({ submission }: Config): boolean => submission.approval === 'callback';
const quietMsOf = ({ submission }: Config): number => submission.quietPeriodMinutes * 60_000;

async function scheduleFindings({ face, db, clock, config, ...scene }: Scene): Promise<JobFinding[]> {
  const { jobs, work, ownHost } = scene;
  // The folders of another host may be no work of this process.
  const pasts = (await allJobs(db)).filter((past) => ownHost === undefined || isOwnJob(past, ownHost));
  return jobFindings(face, pasts, { jobs, work, timezone: config.schedules.timezone, nowMs: clock.now() });
}

function only<All extends Finding, K extends All['kind']>(kind: K, found: readonly All[]) {
  return found.filter((one): one is Extract<All, { kind: K }> => one.kind === kind);
}

/**
 * Finds what a face shows, in the order of the kinds; `wants` leaves kinds out. One after the other inside a transaction.
 * Where the face says that the ledger cannot be read, that is a finding; elsewhere it throws.
 */
export async function findOn<F extends FindingFace>(
  scene: Scene & { face: F },
  wants: (kind: FindingKind) => boolean = () => true,
): Promise<Finding<KindsOn<F>>[]> {
  const { face, db } = scene;
  const kinds = findingKinds.filter((kind) => findingRules[kind].faces[face] && wants(kind));
  const find = async (kind: FindingKind): Promise<readonly Finding[]> => {
    try {
      return await finders[kind](scene);
    } catch (error) {
      if (!findingRules.ledger_unreadable.faces[face]) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return [
        { ...plainFinding('ledger_unreadable', findingRules[kind].faces.ready?.check), facts: { why } },
      ];
    }
  };
  const found: (readonly Finding[])[] = [];
  if (db.isTransaction) for (const kind of kinds) found.push(await find(kind));
  else found.push(...(await Promise.all(kinds.map(find))));
  // Two kinds may need the same part of the ledger, which is unreadable once.
  const unread = new Set<string>();
  const isNew = ({ kind, subject }: Finding): boolean =>
    kind !== 'ledger_unreadable' || (!unread.has(subject) && unread.add(subject).size > 0);
  const shown = found.flat().filter((one): one is Finding<KindsOn<F>> => isShown(one, face));
  return shown.filter(isNew);
}
