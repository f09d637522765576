/** What the ledger holds of a discrepancy that a run finds again. */
export type Known = {
  state: 'open' | 'acknowledged' | 'resolved';
  resolvedBy: 'evidence' | 'person' | null;
  note: string;
  expected: string;
  actual: string;
  /** How often it came back after it was closed. */
  reopened: number;
  /** The person's word on it came with the close of its payout, and holds while that does (P32). */
  closedWithPayout: boolean;
};

/** What happened to a discrepancy, as its life tells it; `changed`: still open, and another value is found. */
export type LifeEvent = 'opened' | 'changed' | 'reopened' | 'acknowledged' | 'resolved' | 'closed';

/** Where it stands after the sight; `event` null: it is as it was, only seen again. */
export type Sighting = Pick<Known, 'state' | 'resolvedBy' | 'note' | 'reopened' | 'closedWithPayout'> & {
  event: { kind: LifeEvent; note: string } | null;
  /** It is open now and was not. */
  opens: boolean;
};

/**
 * What it means that a run finds a discrepancy. A person's word holds for exactly what that person saw: while expected
 * and actual stay, acknowledged stays acknowledged and resolved stays resolved. What evidence closed opens again.
 * `payoutClosed`: a person's word closes its payout now. What was closed with the payout holds just so long, whatever
 * state is expected since.
 */
export function onSight(
  known: Known | undefined,
  found: { expected: string; actual: string },
  payoutClosed = false,
): Sighting {
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
  const opens = (times: number, why: string): Sighting => {
    const event = { kind: 'reopened' as const, note: why };
    return { ...opened, note: why, reopened: times, event };
  };
  const since = (word: string): string =>
    closedWithPayout && !payoutClosed
      ? 'evidence opened its payout again, which a person had closed'
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
