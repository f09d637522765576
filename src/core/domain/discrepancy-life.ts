export const discrepancyStates = ['open', 'acknowledged', 'resolved'] as const;
export type DiscrepancyState = (typeof discrepancyStates)[number];
/** An acknowledged one was seen by a person, and is not ended. */
export const unresolvedStates: readonly DiscrepancyState[] = ['open', 'acknowledged'];

/** The stored state of a discrepancy that a run finds again. */
export type KnownDiscrepancy = {
  state: DiscrepancyState;
  resolvedBy: 'evidence' | 'person' | null;
  note: string;
  expected: string;
  actual: string;
  reopened: number;
  /** A person closed it together with its payout, and it stays closed while the payout does (P32). */
  closedWithPayout: boolean;
};

/** What happened to a discrepancy; `changed`: still open, with another value. */
export const lifeEvents = ['opened', 'changed', 'reopened', 'acknowledged', 'resolved', 'closed'] as const;
export type LifeEvent = (typeof lifeEvents)[number];

/** The state after a run has found it; `event` null: nothing changed. */
export type DiscrepancySighting = Pick<
  KnownDiscrepancy,
  'state' | 'resolvedBy' | 'note' | 'reopened' | 'closedWithPayout'
> & {
  event: { kind: LifeEvent; note: string } | null;
  /** True if it is open now and was not. */
  opens: boolean;
};

/**
 * Decides what becomes of a discrepancy that a run finds. A person's decision holds for exactly what that person saw:
 * while expected and actual stay, acknowledged stays acknowledged and resolved stays resolved. A discrepancy that
 * evidence closed reopens. `payoutClosed`: a person's decision closes its payout now. A discrepancy closed with its
 * payout stays closed as long, whatever state is expected since.
 */
export function onSight(
  known: KnownDiscrepancy | undefined,
  found: { expected: string; actual: string },
  payoutClosed = false,
): DiscrepancySighting {
  if (!known) {
    const event = { kind: 'opened' as const, note: '' };
    return { ...opened, note: '', reopened: 0, event };
  }
  const { closedWithPayout } = known;
  const expected = known.expected === found.expected || closedWithPayout;
  const same = expected && known.actual === found.actual && (payoutClosed || !closedWithPayout);
  const then = `expected ${known.expected}, found ${known.actual}`;
  const { state, resolvedBy, note, reopened } = known;
  const stays = { state, resolvedBy, note, reopened, closedWithPayout, opens: false };
  const opens = (times: number, why: string): DiscrepancySighting => {
    const event = { kind: 'reopened' as const, note: why };
    return { ...opened, note: why, reopened: times, event };
  };
  const since = (word: string): string =>
    closedWithPayout && !payoutClosed
      ? 'evidence reopened its payout, which a person had closed'
      : `changed since a person ${word} it`;
  switch (state) {
    case 'open':
      return { ...stays, event: same ? null : { kind: 'changed', note: `before: ${then}` } };
    case 'acknowledged':
      if (same) return { ...stays, event: null };
      return opens(reopened, `${since('acknowledged')}${quoted(note)}; then ${then}`);
    case 'resolved': {
      const times = reopened + 1;
      if (resolvedBy !== 'person') return opens(times, `came back; reopened ${timesText(times)}`);
      if (same) return { ...stays, event: null };
      const why = `${since('resolved')}${quoted(note)}; then ${then}; reopened ${timesText(times)}`;
      return opens(times, why);
    }
  }
}

const opened = { state: 'open', resolvedBy: null, closedWithPayout: false, opens: true } as const;

function timesText(n: number): string {
  return n === 1 ? 'once' : `${n} times`;
}

function quoted(note: string): string {
  return note === '' ? '' : ` (${note})`;
}
