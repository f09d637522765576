import type { PayoutState } from '../core/domain/payout.ts';

/** One history entry that moved the payout or reported its fee. */
export type Move = {
  id: bigint;
  at: string;
  event: string;
  to: PayoutState;
  /** The fee in this entry, exact decimal text; null when it has none. */
  fee: string | null;
};

/** Which entries a statement counts: those after `from` up to `through`; 0 is the ledger's beginning. */
export type Span = { from: bigint; through: bigint };

/** Where a payout stands in the books; a retry that waits is still `unknown`, since its first send may have been taken. */
export type Stand = { state: PayoutState | null; kind: Kind; fee: string | null; since: string };

/** The lines of P30 that a move of state makes. */
export const flowLines = ['submitted', 'reopened', 'settled', 'failed', 'refused', 'returned'] as const;
export type FlowLine = (typeof flowLines)[number];
/** `unpaid`: it was settled, and this ends that. */
export type Flow = { line: FlowLine; sign: 1n | -1n; at: string; event: string; unpaid?: boolean };

/** One payout in a span: its place before and after, and every line that it passed through. */
export type Course = { before: Stand; after: Stand; flows: Flow[] };

/** What a state means to the statement: `open` is money under way, the last three have left it. */
export type Kind = 'unsent' | 'open' | 'settled' | 'failed' | 'refused';

const kindOf: Record<PayoutState, Kind> = {
  held: 'unsent',
  ready: 'unsent',
  cancelled: 'unsent',
  sending: 'open',
  pending: 'open',
  unknown: 'open',
  success: 'settled',
  returned: 'settled',
  failed: 'failed',
  refused: 'refused',
};

/** Walks a payout's moves. Entries recorded after the span are ignored, whatever their clock says (P30). */
export function courseOf(moves: readonly Move[], { from, through }: Span): Course {
  let stand: Stand = { state: null, kind: 'unsent', fee: null, since: '' };
  let before = stand;
  let retried = false;
  const flows: Flow[] = [];
  for (const move of moves) {
    if (move.id > through) break;
    if (move.event === 'retry') retried = true;
    if (move.event === 'intent') retried = false;
    const waits = retried && (move.to === 'ready' || move.to === 'held');
    const state = waits ? 'unknown' : move.to;
    const since = state === stand.state ? stand.since : move.at;
    const next: Stand = { state, kind: kindOf[state], fee: move.fee ?? stand.fee, since };
    if (move.id > from) flows.push(...flowsOf(stand, next, move));
    stand = next;
    if (move.id <= from) before = stand;
  }
  return { before, after: stand, flows };
}

/** One move, taken apart into the lines it touches: whatever it was, it passes through money under way. */
function flowsOf(from: Stand, to: Stand, { at, event }: Move): Flow[] {
  const flows: Flow[] = [];
  const add = (line: FlowLine, sign: 1n | -1n = 1n): void => void flows.push({ line, sign, at, event });
  if (to.state === 'returned' && from.state !== 'returned') add('returned');
  if (from.state === 'returned' && to.state !== 'returned') add('returned', -1n);
  if (from.kind === to.kind) return flows;
  if (from.kind === 'unsent') add('submitted');
  else if (from.kind === 'settled') flows.push({ line: 'reopened', sign: 1n, at, event, unpaid: true });
  else if (from.kind !== 'open') add('reopened');
  if (to.kind === 'unsent') add('submitted', -1n);
  else if (to.kind !== 'open') add(to.kind);
  return flows;
}

/** How often the line was passed, less how often that was taken back. */
export function times(course: Course, line: FlowLine): bigint {
  return course.flows.reduce((sum, flow) => (flow.line === line ? sum + flow.sign : sum), 0n);
}

/** True when the books count it as submitted: it was sent, and not disproved since. */
export function isSubmitted({ kind }: Stand): boolean {
  return kind !== 'unsent';
}

/** When the last send up to `through` ended, ISO UTC; null when none did. */
export function lastSendEnded(moves: readonly Move[], through: bigint): string | null {
  const known = moves.filter(({ id }) => id <= through);
  const index = known.findLastIndex((move, at) => move.to !== 'sending' && known[at - 1]?.to === 'sending');
  return known[index]?.at ?? null;
}

/**
 * True when a send up to `through` was in flight while the list was read, or began later. Absence from the list then
 * says nothing. `mark` is the newest entry when the reading began.
 */
export function sentMeanwhile(moves: readonly Move[], { mark }: { mark: bigint }, through: bigint): boolean {
  const isBefore = ({ id }: Move): boolean => id <= mark;
  if (moves.some((move) => move.id <= through && move.to === 'sending' && !isBefore(move))) return true;
  return moves.findLast(isBefore)?.to === 'sending';
}
