/** When a run read the list, ISO UTC: by our clock, and by the service's own (the cut of its list). */
export type ReadAt = { ours: string; service: string };

/**
 * What a run that sees a paid payout as failed makes of the run that saw it so first (P36). `first`: nobody has, or a
 * clock was set back since, so that the wait begins with this run.
 */
export function judgeTurn(
  before: ReadAt | null,
  now: ReadAt,
  returnHours: number,
): 'first' | 'wait' | 'sure' {
  if (before === null) return 'first';
  // P33: both clocks must have gone on for so long. A clock that stepped forward alone proves nothing.
  const ms = Math.min(elapsed(before.ours, now.ours), elapsed(before.service, now.service));
  if (!(ms >= 0)) return 'first';
  return ms >= returnHours * 3_600_000 ? 'sure' : 'wait';
}

function elapsed(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
