import type { PayoutState } from '../../core/domain/payout.ts';
import { type Course, courseOf, flowLines, type Stand } from '../book.ts';
import type { ListedPart, PayoutFacts } from '../statement-facts.sql.ts';
import type { About, StatementEntry } from './entry.ts';
import { inMode, isFailed, isUnreadable, ownRows, told } from './listed-rows.ts';
import { type AddToLine, cause, hasList, isStillOpen, serviceSide } from './service-side.ts';
import { linesWithRows } from './statement-lines.ts';

/** Everything that one payout adds to the statement of P30, cause by cause, so that none hides another. */
export function payoutEntries(
  shown: PayoutFacts,
  about: About,
  course = courseOf(shown.moves, about.span),
): StatementEntry[] {
  const facts = { ...shown, listed: ownRows(shown) };
  const { payout } = facts;
  const entries: StatementEntry[] = [];
  const add: AddToLine = (line, { sign = 1n, row, amount, currency, why, overturned, unpaid }) => {
    entries.push({
      currency: currency ?? row?.currency ?? payout.currency,
      line,
      count: flowLines.some((one) => one === line) ? sign : 1n,
      amount: amount ?? sign * (row ? (row.amount ?? 0n) : payout.amount),
      reference: payout.reference,
      batch: payout.batch_id,
      transferId: row?.transfer_id ?? payout.transfer_id ?? '',
      why,
      ...(overturned && { overturned }),
      ...(unpaid && { unpaid }),
    });
  };
  ledgerSide(course, about, add);
  const listed = inMode(facts, about);
  const unread = listed.filter(isUnreadable);
  const rows = listed.filter((row) => !isUnreadable(row) && !isFailed(row));
  const ours = course.after.kind === 'open' || course.after.kind === 'settled';
  serviceSide({ course, ours, rows, unread, facts, about, add, soFar: () => entries });
  return entries;
}

/** Money that the service lists and that no payout of ours explains. */
export function foreignEntries(row: ListedPart): StatementEntry[] {
  const isUnread = isUnreadable(row);
  if (isFailed(row) && !isUnread) return [];
  const why = `listed as ${told(row)}, created ${row.created_at || 'at an unreadable time'}; no payout of ours explains it`;
  const entry = { currency: row.currency, count: 1n, amount: row.amount ?? 0n };
  const named = { reference: row.reference, batch: '', transferId: row.transfer_id, why };
  if (isUnread) return [{ ...entry, ...named, line: 'unreadable' }];
  const foreign: StatementEntry = { ...entry, ...named, line: 'foreign' };
  if (!row.counted) return [{ ...entry, ...named, line: 'listed_by_service' }, foreign];
  const earlier = 'an earlier month counted it, and it is still foreign';
  return [foreign, { ...entry, ...named, line: 'timing', amount: -entry.amount, why: earlier }];
}

/** The same for a transfer listed with a payout that is not its own. */
export function strangerEntries(facts: PayoutFacts, about: About): StatementEntry[] {
  const own = ownRows(facts);
  const isInSpan = ({ created_at: at }: ListedPart): boolean =>
    (at === '' || at >= about.since) && (about.until === null || at < about.until);
  return inMode(facts, about)
    .filter((row) => !own.includes(row) && isInSpan(row))
    .flatMap(foreignEntries);
}

/** The fee a payout adds to what was paid in the span: exact decimal texts, the first counted, the second taken back. */
export function feesOf({ before, after }: Course): { paid: string | null; before: string | null } {
  const feeOf = ({ kind, fee }: Stand): string | null => (kind === 'settled' ? fee : null);
  return { paid: feeOf(after), before: feeOf(before) };
}

/** The payout's place in the books at the end of the span, and whether its absence from the list says nothing. */
export function placeInBooks(
  facts: PayoutFacts,
  about: About,
  { after } = courseOf(facts.moves, about.span),
): { state: PayoutState | null; late: boolean } {
  return { state: after.state, late: !hasList(about) || isStillOpen(facts, about) };
}

function ledgerSide({ before, after, flows }: Course, { show }: About, add: AddToLine): void {
  if (before.kind === 'open')
    add('opening', { why: `${before.state} since ${show(before.since)}, carried in` });
  for (const flow of flows) {
    // Only shown rows get words; most payouts have none.
    const why = linesWithRows.includes(flow.line) ? cause(flow, show) : '';
    add(flow.line, { sign: flow.sign, why, ...(flow.unpaid && { unpaid: true }) });
  }
  if (after.kind !== 'open') return;
  const since = show(after.since);
  if (after.state === 'unknown')
    add('unknown', { why: `unknown since ${since}: nobody can tell yet whether it was paid` });
  else add('in_flight', { why: `${after.state} since ${since}` });
}

/** The listed transfer that a reader of payouts.csv is shown: of our mode, standing, and the one we were given. */
export function shownRow(facts: PayoutFacts, mode: string): ListedPart | null {
  const { payout } = facts;
  const rank = (row: ListedPart): number =>
    ((row.domain ?? mode).toLowerCase() === mode ? 0 : 4) +
    (isFailed(row) ? 2 : 0) +
    (row.transfer_id === payout.transfer_id ? 0 : 1);
  return ownRows(facts).toSorted((a, b) => rank(a) - rank(b))[0] ?? null;
}
