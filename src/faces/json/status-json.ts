import type { LastRun } from '../../books/run-verdicts.sql.ts';
import type { Mode } from '../../core/domain/payout.ts';
import type { WaivedListing } from '../../core/ledger/barriers.ts';
import type { BatchCounts } from '../../core/ledger/batches.ts';
import type { FileTask } from '../../core/ledger/file-tasks.ts';
import type { WaitingJson } from '../../core/shapes/parts.ts';
import type { StatusJson } from '../../core/shapes/status-shapes.ts';
import { type ChangedFile, findingJson } from '../../findings/finding.ts';
import type { Named } from '../../sending/attention.sql.ts';
import type { KeptReady } from '../../sending/open-brakes.sql.ts';
import { reasonText } from '../../words/advice-text.ts';
import { type ReaderSight, sightOfAll } from '../../words/hold-words.ts';
import { rejectedJson } from '../../words/rejected-words.ts';
import { heldBecause } from './list-json.ts';
import type { StatusFacts } from './status-standing.ts';

/** What `status --json` prints. */
export function statusJson(standing: StatusFacts, mode: Mode, sight = sightOfAll): StatusJson {
  const { overview, discrepancies, webhooks, lookUps, collections, queue, inbox, halted, daemon, needed } =
    standing;
  const { open, lost, changed, reports } = standing.promised;
  const { daily, waits, approvals } = standing.brakes;
  return {
    mode,
    ...overview,
    ...{ discrepancies, webhooks, look_ups: lookUps, collections, queue },
    inbox: { ...inbox, rejected: standing.rejected.map(rejectedJson) },
    batches: standing.batches.map((one) => standingOf(one, sight)),
    last_run: lastRunJson(standing.lastRun),
    halted: halted ? { cause: halted.cause, at: halted.at, kinds: halted.kinds } : null,
    waived_listing: standing.waived ? waivedJson(standing.waived) : null,
    daemon,
    schedules: standing.jobs.map(
      ({ expression: _expression, here: _here, finding: _finding, ...job }) => job,
    ),
    alerts: standing.alerts.json,
    unknown: needed.unknown.first.map(({ reference }) => reference),
    withheld: withheldJson(needed.withheld),
    daily_limit: daily,
    waits: waits.map(waitingJson),
    approvals: approvals.map(({ batch, by, at, digest }) => ({ batch, by, at, digest })),
    files: { open: open.map(taskJson), lost: lost.map(taskJson), changed: changed.map(changedJson) },
    reports_due: reports,
    findings: standing.findings.map(findingJson),
  };
}

function standingOf({ batch, state, counts, totals }: BatchCounts, sight: ReaderSight) {
  return {
    batch: batch.id,
    file: batch.file_name,
    rows: Number(batch.row_count),
    state,
    payouts: counts,
    totals,
    hold_reasons: heldBecause({ batch, state }, sight),
  };
}

function lastRunJson(last: LastRun | undefined) {
  if (!last) return null;
  const { run, startedAt, list, verdict, currencies } = last;
  const verdicts = Object.fromEntries(currencies.map((one) => [one.currency, one.verdict]));
  return { run, started_at: startedAt, list, verdict, verdicts };
}

function changedJson({ task: { owner, target, bytes }, size }: ChangedFile) {
  return { owner, file: target, bytes_read: Number(bytes), bytes_now: size };
}

function taskJson({ kind, owner, source, target, outcome }: FileTask) {
  return { kind, owner, source, target, outcome };
}

export function waitingJson(waiting: KeptReady): WaitingJson {
  if (waiting.kind === 'date') {
    const { kind, batch, currency, count, amount, day, clock } = waiting;
    return { kind, batch, currency, payouts: count, amount, pay_on: day, service_clock: clock };
  }
  if (waiting.kind === 'canary') {
    const { kind, batch, count, failed, canary } = waiting;
    return { kind, batch, payouts: count, failed, canary };
  }
  if (waiting.kind === 'file') {
    const { kind, batch, count, why } = waiting;
    return { kind, batch, payouts: count, why: why.kind, ...('path' in why && { path: why.path }) };
  }
  if (waiting.kind === 'check') {
    const { kind, batch, count, why } = waiting;
    return { kind, batch, payouts: count, why };
  }
  const { kind, currency, count, amount, until } = waiting;
  return { kind, currency, payouts: count, amount, until };
}

/** Payouts held just before they were sent, for `--json`. */
export function withheldJson({ first }: Named) {
  return first.map((one) => ({ batch: one.batch, reference: one.reference, message: reasonText(one) }));
}

export function waivedJson({ at, by, note, notProven }: WaivedListing) {
  return { at, by, note, not_proven: notProven };
}
