import type { LookUpLag } from '../core/ledger/inquiry-claims.ts';
import { type Finding, plainFinding } from './finding.ts';

/** The stored webhooks that wait to be applied; null without one. It is a finding once the oldest is old (`isShown`). */
export function webhookFinding(
  { oldestUnapplied: since }: { oldestUnapplied: string | null },
  nowMs: number,
): Finding<'webhooks_overdue'> | null {
  if (since === null) return null;
  // Of a webhook from before the clock was set back nobody knows how long it waits.
  const waitsMs = nowMs - Date.parse(since);
  return { ...plainFinding('webhooks_overdue'), since, measure: Math.abs(waitsMs), facts: { waitsMs } };
}

/** The raised look-ups that are due; null without one. It is a finding once the oldest waits long (`isShown`). */
export function lookUpFinding(
  { due, oldestDue: since }: LookUpLag,
  nowMs: number,
): Finding<'look_ups_overdue'> | null {
  if (since === null) return null;
  return { ...plainFinding('look_ups_overdue', '', due), since, measure: nowMs - Date.parse(since) };
}
