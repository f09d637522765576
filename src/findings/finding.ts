import type { UnpaidState } from '../books/unpaid.sql.ts';
import type { Advice } from '../core/domain/advice.ts';
import type { Severity } from '../core/domain/discrepancy-kinds.ts';
import type { Verdict } from '../core/domain/verdict.ts';
import type { FileTask } from '../core/ledger/file-tasks.ts';
import type { RejectedFile } from '../core/ledger/rejected-files.ts';
import type { FindingJson } from '../core/shapes/parts.ts';
import type { AlertChannel } from '../core/storage/tables/alert-tables.ts';
import type { Maker } from '../sending/approval.ts';
import { type FindingFace, type FindingKind, findingRules } from './kinds.ts';

/** An archived file whose size differs from what was read. */
export type ChangedFile = { task: FileTask; size: number };

/** `missing`: one was due, and there is none. `late`: the newest is too old. `ahead`: its time is still to come. */
export type LateBackup = BackupPlace & ({ is: 'missing' } | ({ is: 'late' | 'ahead' } & NewestBackup));
export type BackupPlace = { folder: string; every: string };
export type NewestBackup = { name: string; hours: number };

/** How a channel stands: what waits, and what was given up since it last worked. */
export type ChannelStanding = {
  channel: AlertChannel;
  waiting: number;
  /** Of those waiting, how many failed at least once. */
  failing: number;
  gaveUp: number;
  /** The code of the last failure, where something fails. */
  problem: string | null;
};

/** What the kinds know beside counts and names; the others hold null. */
type FindingFacts = {
  /** `makers`: who may not approve it. */
  batch_held: { waitsForApproval: boolean; makers: readonly Maker[] };
  /** How many in each state. `newFile`: only a new file can pay them. */
  payout_unpaid: { states: readonly { state: UnpaidState; count: number }[]; newFile: boolean };
  /** `problem`: the code of the last answer that did not count. */
  approval_unanswered: { problem: string | null };
  /** `lost`: neither the file nor its copy was there. `changed`: with the size that it has now. */
  file_lost: { lost: readonly FileTask[]; changed: readonly ChangedFile[] };
  backup_late: LateBackup;
  /** `gaveUp`: how many events were given up in the last days. `problem`: the code of the last failure. */
  events_undelivered: { gaveUp: number; problem: string | null };
  message_lost: { standings: readonly ChannelStanding[] };
  discrepancy_open: { severity: Severity };
  file_rejected: { files: readonly RejectedFile[] };
  /** `decided`: how many of its discrepancies people resolved, once none is open. */
  run_unsound: { startedAt: string; verdict: Verdict; decided: number };
  ledger_away: { why: string };
  /** `advice`: null where `why` says the way out itself. */
  ledger_behind: { why: string; advice: Advice | null };
  /** `forbidden`: the file or folder that this account may not use. */
  ledger_unwritable: { why: string; forbidden: string | null };
  /** The subject is the check that needed it. */
  ledger_unreadable: { why: string };
  /** The subject is the queue. `why`: null where it is paused. */
  queue_stuck: { why: string | null };
  /** Less than 0: it came before the clock was set back. */
  webhooks_overdue: { waitsMs: number };
  disk_full: { free: number };
  disk_unseen: { why: string };
  schedule_failed: { job: string; result: 'failed' | 'incomplete'; why: string | null };
  /** `due`: the first missed time, ISO UTC; null where no success stands before now. */
  schedule_missed: { job: string; due: string | null };
  /** `unusable`: its files cannot be read, or do not belong together. */
  certificate_ends:
    | { is: 'valid'; file: string; validTo: string }
    | { is: 'invalid' | 'unusable'; fault: string };
  /** In bytes. */
  disk_low: { dataDir: string; free: number; ledger: number };
};

type FindingBase = {
  /** The halt's cause, the discrepancy's kind, the batch, the job, the machine, or how files were rejected; empty where there can be only one. */
  subject: string;
  /** How many cases; for a certificate the days left, for a disk the free MiB. */
  count: number;
  /** Since when, ISO UTC; null where nothing says it. */
  since: string | null;
  /** What the thresholds of the faces speak of (`kinds.ts`): an age in ms, days, bytes. */
  measure: number;
  /** The newest id of what it is about: a greater one is a new case. */
  mark: bigint;
  /** Decimals by currency, where payouts are concerned. */
  totals: Record<string, string>;
  /** Up to five references, discrepancies, batches or files. */
  names: string[];
};

/** Something that is wrong or waits, as long as it lasts. Facts only: `words/finding-words.ts` words it. */
export type Finding<K extends FindingKind = FindingKind> = {
  [One in K]: FindingBase & {
    kind: One;
    facts: One extends keyof FindingFacts ? FindingFacts[One] : null;
  };
}[K];
/** The part of a finding that may leave the machine: counts, totals and our own names, and nothing else. */
export type PublicFinding<K extends FindingKind = FindingKind> = FindingBase & { kind: K };

/** A finding as JSON names it, for every face alike. */
export function findingJson(finding: Finding): FindingJson {
  const { kind, subject, since, count } = finding;
  const { gravity, verb } = findingRules[kind];
  const severity = finding.kind === 'discrepancy_open' ? finding.facts.severity : gravity;
  const isToApprove = finding.kind === 'batch_held' && finding.facts.waitsForApproval;
  return { kind, severity, since, count, subject, verb: isToApprove ? 'approve' : verb };
}

export const mostNames = 5;

export function plainFinding<K extends FindingKind>(kind: K, subject = '', count = 1) {
  return { kind, subject, count, since: null, measure: 0, mark: 0n, totals: {}, names: [], facts: null };
}

export function isShown({ kind, measure }: Pick<Finding, 'kind' | 'measure'>, face: FindingFace): boolean {
  const shown = findingRules[kind].faces[face];
  if (shown === undefined || shown === null) return false;
  const { over, under } = shown;
  // A measure that cannot be read is shown.
  if (under !== undefined) return !(measure >= under);
  return over === undefined || !(measure <= over);
}
