/** What the ledger holds of a discrepancy that a run finds again. */
export type Known = {
  state: 'open' | 'acknowledged' | 'resolved';
  resolvedBy: 'evidence' | 'person' | null;
  note: string;
  expected: string;
  actual: string;
  /** How often it came back after it was closed. */
  reopened: number;
};

/** What happened to a discrepancy, as its life tells it; `changed`: still open, and another value is found. */
export type LifeEvent = 'opened' | 'changed' | 'reopened' | 'acknowledged' | 'resolved' | 'closed';

/** Where it stands after the sight; `event` null: it is as it was, only seen again. */
export type Sighting = Pick<Known, 'state' | 'resolvedBy' | 'note' | 'reopened'> & {
  event: { kind: LifeEvent; note: string } | null;
  /** It is open now and was not. */
  opens: boolean;
};

/**
 * What it means that a run finds a discrepancy. A person's word holds for exactly what that person saw: while expected
 * and actual stay, acknowledged stays acknowledged and resolved stays resolved. What evidence closed opens again.
 */
export function onSight(known: Known | undefined, found: { expected: string; actual: string }): Sighting {
  if (!known) {
    const event = { kind: 'opened' as const, note: '' };
    return { state: 'open', resolvedBy: null, note: '', reopened: 0, event, opens: true };
  }
  const same = known.expected === found.expected && known.actual === found.actual;
  const then = `expected ${known.expected}, found ${known.actual}`;
  const { state, resolvedBy, note, reopened } = known;
  const stays = { state, resolvedBy, note, reopened, opens: false };
  const opens = (times: number, why: string): Sighting => {
    const event = { kind: 'reopened' as const, note: why };
    return { state: 'open', resolvedBy: null, note: why, reopened: times, event, opens: true };
  };
  switch (state) {
    case 'open':
      return { ...stays, event: same ? null : { kind: 'changed', note: `before: ${then}` } };
    case 'acknowledged':
      if (same) return { ...stays, event: null };
      return opens(reopened, `changed since a person acknowledged it${quoted(note)}; then ${then}`);
    case 'resolved': {
      const times = reopened + 1;
      if (resolvedBy !== 'person') return opens(times, `came back; reopened ${timesText(times)}`);
      if (same) return { ...stays, event: null };
      const why = `changed since a person resolved it${quoted(note)}; then ${then}; reopened ${timesText(times)}`;
      return opens(times, why);
    }
  }
}

function timesText(n: number): string {
  return n === 1 ? 'once' : `${n} times`;
}

function quoted(note: string): string {
  return note === '' ? '' : ` (${note})`;
}
