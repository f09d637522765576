import { needsAPerson, type Verdict } from '../core/domain/verdict.ts';
import type { RejectedFile } from '../core/ledger/rejected-files.ts';
import { type Finding, plainFinding } from './finding.ts';

type OpenDiscrepancies = { kind: string; severity: string; count: number; since: string };

/** Open discrepancies by kind and severity, in the order given. */
export function openFindings(groups: readonly OpenDiscrepancies[]): Finding<'discrepancy_open'>[] {
  return groups.map(({ kind, severity, count, since }) => {
    const grave = severity === 'high' || severity === 'medium' ? severity : 'low';
    return { ...plainFinding('discrepancy_open', kind, count), since, facts: { severity: grave } };
  });
}

/** Payouts in one of the states that wait for a person; none where `count` is 0. */
export function payoutFindings<K extends 'payout_unknown' | 'payout_held'>(
  kind: K,
  count: number,
  since: string | null = null,
) {
  return count === 0 ? [] : [{ ...plainFinding(kind, '', count), since }];
}

/** A file that was refused, or taken in without some of its rows. */
export function fileFinding(file: RejectedFile): Finding<'file_rejected'> {
  const { kind, problems, rows_left: rows, since } = file;
  const count = Number(kind === 'refused' ? problems : rows);
  return { ...plainFinding('file_rejected', kind, count), since, facts: { files: [file] } };
}

/** The last reconciliation, where a person must look at it. */
export function runFindings(
  last: { run: string; startedAt: string; verdict: Verdict } | null | undefined,
): Finding<'run_unsound'>[] {
  if (!last || !needsAPerson(last.verdict)) return [];
  const { run, startedAt, verdict } = last;
  return [{ ...plainFinding('run_unsound', run), facts: { startedAt, verdict } }];
}
