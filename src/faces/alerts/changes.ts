import { type AlertKind, alertRules } from '../../core/domain/alert-kinds.ts';
import { remainingMs } from '../../core/domain/wait.ts';
import type { Condition } from './condition.ts';

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
  | { change: 'raised'; condition: Condition }
  /** Further cases came. */
  | { change: 'grown' | 'repeated'; condition: Condition; alert: StandingAlert }
  | { change: 'cleared'; alert: StandingAlert }
  /** The clock was set back: the same wait counts from now (P33). */
  | { change: 'rebased'; alert: StandingAlert; leftMs: number };

/** An alert is told again after so long. */
export const repeatMs = 24 * 3_600_000;
/** Further cases of an alert are gathered for so long. */
const gatherMs = 15 * 60_000;

/**
 * Compares what is so now with what people were told. `sees`: whether this process can tell that a condition ended; it
 * leaves the others' alerts alone.
 */
export function alertChanges(
  conditions: readonly Condition[],
  alerts: readonly StandingAlert[],
  { nowMs, sees }: { nowMs: number; sees(alert: Pick<StandingAlert, 'kind' | 'subject'>): boolean },
): AlertChange[] {
  const known = new Map(alerts.map((alert) => [keyOf(alert), alert]));
  const present = new Set(conditions.map(keyOf));
  const told = conditions.flatMap((condition) => {
    const change = changeOf(condition, known.get(keyOf(condition)), nowMs);
    return change ? [change] : [];
  });
  const over = alerts.filter((alert) => !present.has(keyOf(alert)) && sees(alert));
  return [...told, ...over.map((alert) => ({ change: 'cleared' as const, alert }))];
}

function changeOf(
  condition: Condition,
  alert: StandingAlert | undefined,
  nowMs: number,
): AlertChange | undefined {
  if (!alert) return { change: 'raised', condition };
  // No wait is ever longer than a day, whatever a clock wrote.
  const leftMs = Math.min(remainingMs(alert.repeat, nowMs), repeatMs);
  const hasMore = condition.mark > alert.mark || condition.count > alert.count;
  if (alertRules[condition.kind].grows && hasMore && leftMs <= repeatMs - gatherMs)
    return { change: 'grown', condition, alert };
  if (leftMs === 0) return { change: 'repeated', condition, alert };
  return alert.repeat.notedMs > nowMs ? { change: 'rebased', alert, leftMs } : undefined;
}

function keyOf({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string {
  return `${kind} ${subject}`;
}
