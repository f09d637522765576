/** How often one reference's webhook is requested automatically, over all runs. */
export const resendBudget = 3;

const minute = 60_000;
const spacing = [10 * minute, 60 * minute, 6 * 60 * minute];

export const longestSpacingMs = Math.max(...spacing);

/** The wait after the last of `made` requests for one reference, before the next one or before giving up. */
export function resendSpacingMs(made: number): number {
  return spacing[Math.min(Math.max(made, 1), spacing.length) - 1] ?? longestSpacingMs;
}

export type ResendState =
  | { kind: 'never_asked' }
  /** Scheduled; `dueAt` is when it may be made. */
  | { kind: 'waiting'; made: number; dueAt: string }
  | { kind: 'asked'; made: number; at: string }
  | { kind: 'heard'; made: number; at: string }
  /** The budget is spent and no webhook came. */
  | { kind: 'gave_up'; made: number; at: string };

/** Judges the requests of one reference, oldest first. `heardAt`: when its first webhook came, ISO UTC. */
export function judgeResends(
  requests: readonly { asked_at: string | null; due_at: string; outcome: string | null }[],
  heardAt: string | null,
  now: string,
): ResendState {
  const times = requests.flatMap((one) => (one.asked_at === null ? [] : [one.asked_at]));
  const made = times.length;
  const last = times.at(-1);
  const open = requests.find((one) => one.outcome === null && one.asked_at === null);
  const first = times[0];
  if (heardAt !== null) {
    if (first !== undefined && heardAt >= first) return { kind: 'heard', made, at: heardAt };
    if (!open) return { kind: 'never_asked' };
  }
  if (open && made < resendBudget) return { kind: 'waiting', made, dueAt: open.due_at };
  if (last === undefined) return { kind: 'never_asked' };
  const over = Date.parse(now) - Date.parse(last) >= resendSpacingMs(made);
  return made >= resendBudget && over
    ? { kind: 'gave_up', made, at: last }
    : { kind: 'asked', made, at: last };
}
