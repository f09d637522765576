import { remainingMs } from '../../core/domain/wait.ts';
import type { PublicFinding } from '../../findings/finding.ts';
import { type AlertKind, alertRules } from '../../findings/kinds.ts';

/** What people are told at once. */
export type AlertFinding = PublicFinding<AlertKind>;

/** An alert that stands. `repeat`: when it is told again, and when that was decided, in ms of the shared clock. */
export type StandingAlert = {
  kind: AlertKind;
  subject: string;
  count: number;
  mark: bigint;
  raisedAt: string;
  repeat: { untilMs: number; notedMs: number };
};

/** What to do about an alert. All but `rebased` are told to people. */
export type AlertChange =
  | { change: 'raised'; finding: AlertFinding }
  /** Further cases came. */
  | { change: 'grown' | 'repeated'; finding: AlertFinding; alert: StandingAlert }
  | { change: 'cleared'; alert: StandingAlert }
  /** The clock was set back: the same wait counts from now (P33). */
  | { change: 'rebased'; alert: StandingAlert; leftMs: number };

/** An alert is told again after so long. */
export const repeatMs = 24 * 3_600_000;
/** Further cases of an alert are gathered for so long. */
const gatherMs = 15 * 60_000;

/**
 * Compares what is so now with what people were told. `sees`: whether this process can tell that one ended; it
 * leaves the others' alerts alone.
 */
export function alertChanges(
  findings: readonly AlertFinding[],
  alerts: readonly StandingAlert[],
  { nowMs, sees }: { nowMs: number; sees(alert: Pick<StandingAlert, 'kind' | 'subject'>): boolean },
): AlertChange[] {
  const known = new Map(alerts.map((alert) => [keyOf(alert), alert]));
  const present = new Set(findings.map(keyOf));
  const told = findings.flatMap((finding) => {
    const change = changeOf(finding, known.get(keyOf(finding)), nowMs);
    return change ? [change] : [];
  });
  const over = alerts.filter((alert) => !present.has(keyOf(alert)) && sees(alert));
  return [...told, ...over.map((alert) => ({ change: 'cleared' as const, alert }))];
}

function changeOf(
  finding: AlertFinding,
  alert: StandingAlert | undefined,
  nowMs: number,
): AlertChange | undefined {
  if (!alert) return { change: 'raised', finding };
  // No wait is ever longer than a day, whatever a clock wrote.
  const leftMs = Math.min(remainingMs(alert.repeat, nowMs), repeatMs);
  const hasMore = finding.mark > alert.mark || finding.count > alert.count;
  if (alertRules[finding.kind].faces.alerts.grows && hasMore && leftMs <= repeatMs - gatherMs)
    return { change: 'grown', finding, alert };
  if (leftMs === 0) return { change: 'repeated', finding, alert };
  return alert.repeat.notedMs > nowMs ? { change: 'rebased', alert, leftMs } : undefined;
}

function keyOf({ kind, subject }: Pick<AlertFinding, 'kind' | 'subject'>): string {
  return `${kind} ${subject}`;
}
