import type { PayoutState } from '../../domain/payout.ts';
import { isUsable } from '../../domain/verdict.ts';
import { readStatus } from '../../domain/witness.ts';
import {
  type Course,
  courseOf,
  type Flow,
  isSubmitted,
  lastSendEnded,
  type Stand,
  sentMeanwhile,
  times,
} from '../book.ts';
import type { ListedPart, PayoutFacts, StatementScope } from '../statement-facts.sql.ts';
import { inMode, isFailed, isUnreadable, ownRows, standingFirst, told, whyUnlisted } from './listed-rows.ts';
import { type Line, linesWithRows } from './statement-lines.ts';

/** One thing that a line of the statement counts; `amount` in minor units, signed as it enters the line. */
export type Entry = {
  currency: string;
  line: Line;
  count: bigint;
  amount: bigint;
  reference: string;
  batch: string;
  transferId: string;
  why: string;
  /** Paid here, and failed on the list. */
  overturned?: boolean;
  /** It was settled and no longer is: this reduces net paid. */
  unpaid?: boolean;
};

/** What a statement looks at, and how an instant is shown. */
export type About = StatementScope & { show(instant: string): string };

type Add = (
  line: Line,
  one: {
    sign?: bigint;
    row?: ListedPart;
    amount?: bigint;
    why: string;
    overturned?: boolean;
    unpaid?: boolean;
  },
) => void;
/**
 * One payout with all that its lines follow from; `ours`: the service should show money for it; `rows`: the listed
 * transfers of it that did not fail and whose amounts can be read; `unread`: those whose amounts cannot.
 */
type Case = {
  course: Course;
  ours: boolean;
  rows: ListedPart[];
  unread: ListedPart[];
  facts: PayoutFacts;
  about: About;
  add: Add;
};

/** Everything that one payout adds to the statement of P30, cause by cause, so that none hides another. */
export function payoutEntries(
  shown: PayoutFacts,
  about: About,
  course = courseOf(shown.moves, about.span),
): Entry[] {
  const facts = { ...shown, listed: ownRows(shown) };
  const { payout } = facts;
  const entries: Entry[] = [];
  const add: Add = (line, { sign = 1n, row, amount, why, overturned, unpaid }) => {
    entries.push({
      currency: row?.currency ?? payout.currency,
      line,
      count: isFlowLine(line) ? sign : 1n,
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
  const uncounted = inMode(facts, about).filter((row) => !row.counted);
  const unread = uncounted.filter(isUnreadable);
  const rows = uncounted.filter((row) => !isUnreadable(row) && !isFailed(row));
  const ours = course.after.kind === 'open' || course.after.kind === 'settled';
  serviceSide({ course, ours, rows, unread, facts, about, add });
  return entries;
}

/** Money that the service lists and that no payout of ours explains. */
export function foreignEntries(row: ListedPart): Entry[] {
  const isUnread = isUnreadable(row);
  if (isFailed(row) && !isUnread) return [];
  const why = `listed as ${told(row)}, created ${row.created_at || 'at an unreadable time'}; no payout of ours explains it`;
  const entry = { currency: row.currency, count: 1n, amount: row.amount ?? 0n };
  const named = { reference: row.reference, batch: '', transferId: row.transfer_id, why };
  const lines: readonly Line[] = isUnread ? ['unreadable'] : ['listed_by_service', 'foreign'];
  return lines.map((line) => ({ ...entry, ...named, line }));
}

/** The same for a transfer listed with a payout that is not its own. */
export function strangerEntries(facts: PayoutFacts, about: About): Entry[] {
  const own = ownRows(facts);
  const isInSpan = ({ created_at: at }: ListedPart): boolean =>
    (at === '' || at >= about.since) && (about.until === null || at < about.until);
  return inMode(facts, about)
    .filter((row) => !own.includes(row) && !row.counted && isInSpan(row))
    .flatMap(foreignEntries);
}

/** The fee a payout adds to what was paid in the span: exact decimal texts, the first counted, the second taken back. */
export function feesOf({ before, after }: Course): { paid: string | null; before: string | null } {
  const feeOf = ({ kind, fee }: Stand): string | null => (kind === 'settled' ? fee : null);
  return { paid: feeOf(after), before: feeOf(before) };
}

/** The payout's place in the books at the end of the span, and whether its absence from the list says nothing. */
export function standAt(
  facts: PayoutFacts,
  about: About,
  { after } = courseOf(facts.moves, about.span),
): { state: PayoutState | null; late: boolean } {
  return { state: after.state, late: !hasList(about) || isLate(facts, about) };
}

/** False where nobody could look (P35). */
function hasList({ listing }: About): boolean {
  return isUsable(listing?.standing ?? null);
}

/** True when it was in flight while the list was read, or its grace has not ended: its absence says nothing (P28). */
function isLate({ moves }: PayoutFacts, { listing, span }: About): boolean {
  if (listing === null) return false;
  if (sentMeanwhile(moves, listing, span.through)) return true;
  const ended = lastSendEnded(moves, span.through);
  return ended !== null && ended > listing.endedBy && ended <= listing.stampsUntil;
}

function isFlowLine(line: Line): boolean {
  return ['submitted', 'reopened', 'settled', 'failed', 'refused', 'returned'].includes(line);
}

function ledgerSide({ before, after, flows }: Course, { show }: About, add: Add): void {
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

const cause = ({ event, at, unpaid }: Flow, show: About['show']): string =>
  `${event}, ${show(at)}${unpaid ? '; it had been settled' : ''}`;

/** Compares with the service's list, depending on when the payout was first sent. */
function serviceSide(one: Case): void {
  const { before, after } = one.course;
  if (isSubmitted(before) || isSubmitted(after)) unreadable(one);
  if (isSubmitted(before)) carriedIn(one);
  else if (isSubmitted(after)) sentInSpan(one);
  else neverSent(one);
}

/**
 * First sent before the span: the month in which it was sent has counted its transfer, so that what failed since passes
 * through `timing`. A transfer that no month has counted yet is an adjustment of today.
 */
function carriedIn(one: Case): void {
  const { course, ours, rows, facts, about, add } = one;
  const { payout } = facts;
  for (const flow of course.flows) {
    const why = `submitted in an earlier month; in this one: ${cause(flow, about.show)}`;
    if (flow.line === 'failed' || flow.line === 'refused') add('timing', { sign: flow.sign, why });
    if (flow.line === 'submitted') add('timing', { sign: -flow.sign, why });
  }
  const isKnown = inMode(facts, about).some((row) => row.counted);
  for (const [n, row] of standingFirst(rows, facts).entries()) {
    add('listed_by_service', { row, why: told(row) });
    if (ours && n === 0 && !isKnown) {
      const why = `sent in an earlier month, listed only since: ${told(row)}`;
      // What was ordered is late; what is shown of it beside that is a difference of its own.
      add('timing', row.currency === payout.currency ? { row, amount: payout.amount, why } : { why });
      differs(one, row);
    } else furtherTransfer(one, row);
  }
}

/** First sent in the span, and the books still say so. */
function sentInSpan(one: Case): void {
  const { course, ours, rows, facts, add } = one;
  reopened(one);
  const [standing, ...more] = standingFirst(rows, facts);
  if (standing && !ours) notOurs({ row: standing, state: course.after.state ?? '', add });
  if (standing) add('listed_by_service', { row: standing, why: told(standing) });
  if (standing && ours) differs(one, standing);
  if (!standing && ours) unlisted(one);
  for (const row of more) {
    add('listed_by_service', { row, why: told(row) });
    furtherTransfer(one, row);
  }
}

function furtherTransfer({ course, ours, add }: Case, row: ListedPart): void {
  if (ours) add('unexplained', { row, why: `one more transfer for the same payout: ${told(row)}` });
  else notOurs({ row, state: course.after.state ?? '', add });
}

/** A payout that left `failed` or `refused` stays in those lines, though the service shows it as active. */
function reopened({ course, ours, add }: Case): void {
  const expected = times(course, 'submitted') - times(course, 'failed') - times(course, 'refused');
  const off = (ours ? 1n : 0n) - expected;
  const sign = off < 0n ? -1n : 1n;
  for (let n = off * sign; n > 0n; n--)
    add('timing', { sign, why: 'counted among failed or refused, and reopened since' });
}

/** An unreadable amount is counted, and adds nothing to any sum. */
function unreadable({ unread, add }: Pick<Case, 'unread' | 'add'>): void {
  for (const row of unread) add('unreadable', { row, why: `listed as ${told(row)}` });
}

function differs({ facts: { payout }, add }: Case, row: ListedPart): void {
  if (row.currency === payout.currency && row.amount === payout.amount) return;
  if (row.currency === payout.currency) {
    const why = `listed as ${row.amount_text} ${row.currency}`;
    add('amount_differences', { amount: (row.amount ?? 0n) - payout.amount, why });
    return;
  }
  const why = `ordered in ${payout.currency}, listed as ${row.amount_text} ${row.currency}`;
  add('amount_differences', { sign: -1n, why });
  add('amount_differences', { row, why });
}

/** Ours, and the list shows no money for it. */
function unlisted({ course, unread, facts, about, add }: Case): void {
  const listed = unread.find((row) => !isFailed(row));
  if (listed) {
    add('unexplained', { sign: -1n, why: `nobody can tell what was paid: listed as ${told(listed)}` });
    return;
  }
  const failed = inMode(facts, about).find(isFailed);
  if (failed && course.after.kind === 'open') {
    const why = `${course.after.state} here; the list says failed, which is not taken over yet`;
    add('timing', { sign: -1n, why });
  } else if (failed) {
    const why = `${course.after.state} here, listed as ${told(failed)}`;
    add('unexplained', { sign: -1n, why, overturned: course.after.state === 'success' });
  } else if (!hasList(about)) {
    add('timing', { sign: -1n, why: whyUnlisted(facts, about) });
  } else if (isLate(facts, about)) {
    add('timing', { sign: -1n, why: 'sent while the list was being read, or too short a time before' });
  } else {
    add('unseen', { why: whyUnlisted(facts, about) });
  }
}

/** Failed or refused here, and listed: older news while the list shows it pending, else a contradiction. */
function notOurs({ row, state, add }: { row: ListedPart; state: string; add: Add }): void {
  const why = `${state} here, listed as ${told(row)}`;
  add(readStatus(row.status) === 'pending' ? 'timing' : 'unexplained', { row, why });
}

/** Never sent from here, or proven not sent: whatever the list shows of it is unexplained. */
function neverSent(one: Case): void {
  const { course, rows, facts, about, add } = one;
  reopened(one);
  // A closed month is compared with a later list, which also shows what was sent after the month.
  const through = about.known;
  if (isSubmitted(courseOf(facts.moves, { from: 0n, through }).after)) return;
  const isInSpan = (row: ListedPart): boolean => about.until === null || row.created_at < about.until;
  unreadable({ unread: one.unread.filter(isInSpan), add });
  for (const row of rows) {
    if (!isInSpan(row)) continue;
    add('listed_by_service', { row, why: told(row) });
    add('unexplained', {
      row,
      why: `${course.after.state ?? 'not taken in'} and never sent, yet listed: ${told(row)}`,
    });
  }
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
