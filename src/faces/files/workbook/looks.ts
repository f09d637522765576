import type { MatchState } from '../../../books/statement/match-state.ts';
import type { Severity } from '../../../core/domain/discrepancy-kinds.ts';
import type { DiscrepancyState } from '../../../core/domain/discrepancy-life.ts';
import type { PayoutState } from '../../../core/domain/payout.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import type { CellLook } from './styles.ts';

const states: Record<PayoutState, CellLook> = {
  held: 'none',
  ready: 'none',
  sending: 'none',
  pending: 'none',
  success: 'good',
  failed: 'bad',
  refused: 'bad',
  unknown: 'warn',
  cancelled: 'none',
  returned: 'bad',
};
const matches: Record<MatchState, CellLook> = {
  matched: 'good',
  differs: 'bad',
  not_listed: 'bad',
  in_flight: 'none',
  never_sent: 'none',
};
const severities: Record<Severity, CellLook> = { high: 'bad', medium: 'warn', low: 'none' };
/** The states of a discrepancy; a collection's state has other words and stays plain. */
const standings: Record<DiscrepancyState, CellLook> = {
  open: 'bad',
  acknowledged: 'warn',
  resolved: 'good',
};

/** How cells of these columns look, by the word in them. The colour only repeats the word. */
const byColumn: Record<string, ReadonlyMap<string, CellLook>> = {
  payout_state: new Map(Object.entries(states)),
  state: new Map(Object.entries({ ...states, ...standings })),
  match_state: new Map(Object.entries(matches)),
  severity: new Map(Object.entries(severities)),
  verdict: new Map(Object.entries(verdictWords).map(([verdict, { look }]) => [verdict, look])),
};

/** Returns how a cell of this column looks, or nothing for a column without colours. */
export function lookOf(column: string): ((text: string) => CellLook | undefined) | undefined {
  if (column === 'open_discrepancy') return (text) => (text === '' ? undefined : 'bad');
  const known = byColumn[column];
  return known && ((text) => known.get(text));
}
