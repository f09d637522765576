import { isUsable } from '../../core/domain/verdict.ts';
import { readStatus } from '../../core/domain/witness.ts';
import {
  type Course,
  courseOf,
  type Flow,
  isSubmitted,
  lastSendEnded,
  sentMeanwhile,
  times,
} from '../book.ts';
import type { ListedPart, PayoutFacts } from '../statement-facts.sql.ts';
import type { About, StatementEntry } from './entry.ts';
import { inMode, isFailed, isSentElsewhere, standingFirst, told, whyUnlisted } from './listed-rows.ts';
import { causeLines, type StatementLine } from './statement-lines.ts';

export type AddToLine = (
  line: StatementLine,
  one: {
    sign?: bigint;
    row?: ListedPart;
    amount?: bigint;
    currency?: string;
    why: string;
    overturned?: boolean;
    unpaid?: boolean;
  },
) => void;

/**
 * One payout with all that its lines follow from; `ours`: the service should show money for it; `rows`: the listed
 * transfers of it that did not fail and whose amounts can be read; `unread`: those whose amounts cannot; `soFar`: its
 * entries until now.
 */
export type ServiceCase = {
  course: Course;
  ours: boolean;
  rows: ListedPart[];
  unread: ListedPart[];
  facts: PayoutFacts;
  about: About;
  add: AddToLine;
  soFar(): readonly StatementEntry[];
};

/**
 * Compares a payout with the service's list. Whenever it was sent, the list is held against where the books have it now:
 * a closed month keeps its figures, and forgets nothing.
 */
export function serviceSide(one: ServiceCase): void {
  const { before, after } = one.course;
  const isCarried = isSubmitted(before);
  if (isCarried || isSubmitted(after)) {
    unreadable(one);
    listed(one);
    if (!isCarried) reopened(one);
    compare(isCarried ? { ...one, add: withoutTiming(one.add) } : one);
  } else neverSent(one);
  if (isCarried || one.rows.some(({ counted }) => counted)) balance(one);
}

/** False where nobody could look (P35). */
export function hasList({ listing }: Pick<About, 'listing'>): boolean {
  return isUsable(listing?.standing ?? null);
}

/** True when it was in flight while the list was read, or its grace has not ended: its absence says nothing (P28). */
export function isStillOpen({ moves }: PayoutFacts, { listing, span }: About): boolean {
  if (listing === null) return false;
  if (sentMeanwhile(moves, listing, span.through)) return true;
  const ended = lastSendEnded(moves, span.through);
  return ended !== null && ended > listing.endedBy && ended <= listing.stampsUntil;
}

export const cause = ({ event, at, unpaid }: Flow, show: About['show']): string =>
  `${event}, ${show(at)}${unpaid ? '; it had been settled' : ''}`;

/** What an earlier month counted is in its `listed_by_service`. */
function listed({ rows, facts, add }: ServiceCase): void {
  for (const row of standingFirst(rows, facts))
    if (!row.counted) add('listed_by_service', { row, why: told(row) });
}

/** Everything that differs between the books and the list. */
function compare(one: ServiceCase): void {
  const { ours, rows, facts } = one;
  const [standing, ...more] = standingFirst(rows, facts);
  if (standing && !ours) notOurs(one, standing);
  if (standing && ours) differs(one, standing);
  if (!standing && ours) unlisted(one);
  for (const row of more)
    if (ours) one.add('duplicates', { row, why: `one more transfer for the same payout: ${told(row)}` });
    else notOurs(one, row);
}

/** What was sent before the span is late by one entry, which {@link balance} makes. */
function withoutTiming(add: AddToLine): AddToLine {
  return (line, given) => {
    if (line !== 'timing') add(line, given);
  };
}

/** Lines that what was sent in the span enters; those in the second list are taken off. */
const accounted: readonly StatementLine[] = ['submitted', ...causeLines];
const takenOff: readonly StatementLine[] = ['failed', 'refused', 'unseen'];

/**
 * A closed month has counted the payout, or a transfer of it, and its figures never change. What that leaves here passes
 * through `timing`, so that the lines tie while each difference still stands in its own.
 */
function balance(one: ServiceCase): void {
  const { course, rows, facts, about, add, soFar } = one;
  const left = new Map<string, bigint>();
  for (const { currency, line, amount } of soFar()) {
    const sign =
      line === 'listed_by_service' || takenOff.includes(line) ? 1n : accounted.includes(line) ? -1n : 0n;
    left.set(currency, (left.get(currency) ?? 0n) + sign * amount);
  }
  const news = standingFirst(rows, facts).find(({ counted }) => !counted);
  const flow = course.flows.findLast(({ line }) => ['submitted', 'failed', 'refused'].includes(line));
  const why = news
    ? `sent in an earlier month, listed only since: ${told(news)}`
    : flow
      ? `submitted in an earlier month; in this one: ${cause(flow, about.show)}`
      : 'an earlier month counted it, and never changes: the difference is found since, or still open';
  for (const [currency, amount] of left) if (amount !== 0n) add('timing', { amount, currency, why });
}

/** A payout that left `failed` or `refused` stays in those lines, though the service shows it as active. */
function reopened({ course, ours, add }: ServiceCase): void {
  const expected = times(course, 'submitted') - times(course, 'failed') - times(course, 'refused');
  const off = (ours ? 1n : 0n) - expected;
  const sign = off < 0n ? -1n : 1n;
  for (let n = off * sign; n > 0n; n--)
    add('timing', { sign, why: 'counted among failed or refused, and reopened since' });
}

/** An unreadable amount is counted, and adds nothing to any sum. */
function unreadable({ unread, add }: Pick<ServiceCase, 'unread' | 'add'>): void {
  for (const row of unread) add('unreadable', { row, why: `listed as ${told(row)}` });
}

function differs({ facts: { payout }, add }: ServiceCase, row: ListedPart): void {
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
function unlisted({ course, unread, facts, about, add }: ServiceCase): void {
  const { state, kind } = course.after;
  const hidden = unread.find((row) => !isFailed(row));
  if (hidden) {
    add('unexplained', { sign: -1n, why: `nobody can tell what was paid: listed as ${told(hidden)}` });
    return;
  }
  const failed = inMode(facts, about).find(isFailed);
  if (failed && kind === 'open') {
    const why = `${state} here; the list says failed, which is not taken over yet`;
    add('timing', { sign: -1n, why });
  } else if (failed && state === 'returned') {
    add('returns', { sign: -1n, why: `returned here, and the list says so too: ${told(failed)}` });
  } else if (failed) {
    const why = `${state} here, listed as ${told(failed)}`;
    add('status_conflicts', { sign: -1n, why, overturned: state === 'success' });
  } else if (!hasList(about)) {
    add('timing', { sign: -1n, why: whyUnlisted(facts, about) });
  } else if (isStillOpen(facts, about)) {
    add('timing', { sign: -1n, why: 'sent while the list was being read, or too short a time before' });
  } else if (isSentElsewhere(facts, course)) {
    add('paid_elsewhere', { sign: -1n, why: whyUnlisted(facts, about) });
  } else {
    add('unseen', { why: whyUnlisted(facts, about) });
  }
}

/** Failed or refused here, and listed: older news while the list shows it pending, else a contradiction. */
function notOurs({ course, add }: ServiceCase, row: ListedPart): void {
  const why = `${course.after.state ?? ''} here, listed as ${told(row)}`;
  add(readStatus(row.status) === 'pending' ? 'timing' : 'status_conflicts', { row, why });
}

/** Never sent from here, or proven not sent: what the list shows under its reference is another's. */
function neverSent(one: ServiceCase): void {
  const { course, rows, facts, about, add } = one;
  reopened(one);
  // A closed month is compared with a later list, which also shows what was sent after the month.
  const through = about.known;
  if (isSubmitted(courseOf(facts.moves, { from: 0n, through }).after)) return;
  const isInSpan = (row: ListedPart): boolean => about.until === null || row.created_at < about.until;
  unreadable({ unread: one.unread.filter(isInSpan), add });
  for (const row of rows.filter(isInSpan)) {
    if (!row.counted) add('listed_by_service', { row, why: told(row) });
    const why = `${course.after.state ?? 'not taken in'} and never sent, yet listed: ${told(row)}`;
    add('collisions', { row, why });
  }
}
