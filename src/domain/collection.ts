import type { CollectionWord } from './collection-word.ts';
import { decimalDifference } from './discrepancy.ts';
import { ladderDelayMs } from './ladder.ts';
import { formatMinor } from './money.ts';
import type { Mode } from './payout.ts';

/**
 * Where a collection stands. `expected`: promised by a file; `heard`: a webhook told of it, which is no proof;
 * `received`: the verify endpoint shows it as a success that agrees; `failed`: it shows it as failed; `conflict`: what
 * was promised, told and shown cannot all be true.
 */
export const collectionStates = ['expected', 'heard', 'received', 'failed', 'conflict'] as const;
export type CollectionState = (typeof collectionStates)[number];

/** One thing in which two words about a collection differ; amounts as plain decimals. */
export type CollectionDifference = {
  field: 'amount' | 'currency' | 'status' | 'domain' | 'trx';
  expected: string;
  actual: string;
  /** Who says the one and who the other, such as `expectation and verify`. */
  between: string;
};

/** Everything known of one collection. `verified` is the verify endpoint's last word. */
export type CollectionFacts = {
  mode: Mode;
  promised: { amount: bigint; currency: string } | null;
  heard: boolean;
  told: CollectionWord | null;
  /** In what two webhooks differed (P18). */
  dispute: readonly CollectionDifference[];
  verified: CollectionWord | null;
  /** When the verify endpoint first showed it received. */
  receivedAt: string | null;
};

/** Where the facts put a collection, and every difference between them. Never `received` on a webhook's word (P14). */
export function judgeCollection(facts: CollectionFacts): {
  state: CollectionState;
  differences: CollectionDifference[];
} {
  const { promised, told, verified, mode } = facts;
  const differences = [...facts.dispute];
  const shown = completed(verified, told) ?? told;
  const witness = verified ? 'verify' : 'webhook';
  if (promised && shown && !isOver(shown)) differences.push(...moneyDiffers(promised, shown, witness));
  for (const [word, who] of [
    [verified, 'verify'],
    [told, 'webhook'],
  ] as const) {
    const domain = word?.domain ?? null;
    if (domain !== null && domain !== mode)
      differences.push({ field: 'domain', expected: mode, actual: domain, between: `this mode and ${who}` });
  }
  if (told && verified) {
    // Where verify shows what was promised, that is what is expected, and the webhook is what differs.
    const isKept =
      promised !== null &&
      isSameTry(told, verified) &&
      !isOver(verified) &&
      moneyDiffers(promised, verified, '').length === 0;
    const differing = isKept
      ? wordsDiffer(verified, told, 'verify and webhook')
      : wordsDiffer(told, verified, 'webhook and verify');
    differences.push(...differing);
  }
  if (facts.receivedAt !== null && verified && isOver(verified) && told?.status !== 'success')
    differences.push(differs('status', 'success', verified.status, 'verify before and verify now'));
  return { state: differences.length > 0 ? 'conflict' : plainState(facts), differences };
}

/** What the verify endpoint leaves out of its word, filled in from an authentic webhook about the same try. */
export function completed(
  verified: CollectionWord | null,
  told: CollectionWord | null,
): CollectionWord | null {
  if (!verified || told?.status !== 'success') return verified;
  if (verified.trx !== null && told.trx !== null && verified.trx !== told.trx) return verified;
  return {
    ...verified,
    amount: verified.amount ?? told.amount,
    currency: verified.currency ?? told.currency,
  };
}

/** True for a success without the amount that was promised: only what is shown can agree with a promise (P13). */
export function lacksAmount({ status, amount }: CollectionWord): boolean {
  return status === 'success' && amount === null;
}

function plainState({ promised, told, verified, heard }: CollectionFacts): CollectionState {
  const shown = completed(verified, told);
  if (shown?.status === 'success' && !(promised && lacksAmount(shown))) return 'received';
  if (verified && isOver(verified)) return 'failed';
  return heard ? 'heard' : 'expected';
}

/**
 * Takes in one more webhook about a collection: the word that stands, and in what the two differ (P18). Pending then a
 * final word is none; what failed under another trx was another try of the payer; two successes are paid twice.
 */
export function mergeWebhook(
  before: CollectionWord | null,
  next: CollectionWord,
): { told: CollectionWord; dispute: CollectionDifference[] } {
  if (!before) return { told: next, dispute: [] };
  const sameTry = isSameTry(before, next);
  if (!sameTry && before.status !== 'success') return { told: next, dispute: [] };
  const dispute = wordsDiffer(before, next, 'two webhooks');
  const moved = sameTry && before.status === 'pending' && dispute.length === 0;
  return { told: moved ? next : before, dispute };
}

/** Differences that stand for good, those of before first and each once; what a row keeps is bounded. */
export function withDispute(
  before: readonly CollectionDifference[],
  more: readonly CollectionDifference[],
): CollectionDifference[] {
  const all = [...before, ...more].map((one) => [JSON.stringify(one), one] as const);
  return [...new Map(all).values()].slice(0, 20);
}

/** In what two words about one collection differ; two tries of a payer, one of them in vain, do not. */
export function wordsDiffer(
  one: CollectionWord,
  other: CollectionWord,
  between: string,
): CollectionDifference[] {
  if (!isSameTry(one, other)) {
    if (one.status !== 'success' || other.status !== 'success') return [];
    return [differs('trx', one.trx ?? '', other.trx ?? '', `${between}: paid twice`)];
  }
  const found: CollectionDifference[] = [];
  if (one.currency !== null && other.currency !== null && one.currency !== other.currency)
    found.push(differs('currency', withAmount(one), withAmount(other), between));
  else if (one.amount !== null && other.amount !== null && !sameAmount(one.amount, other.amount))
    found.push(differs('amount', one.amount, other.amount, between));
  if (one.domain !== null && other.domain !== null && one.domain !== other.domain)
    found.push(differs('domain', one.domain, other.domain, between));
  if (one.status !== other.status && one.status !== 'pending' && other.status !== 'pending')
    found.push(differs('status', one.status, other.status, between));
  return found;
}

function isSameTry(one: CollectionWord, other: CollectionWord): boolean {
  return one.trx === null || other.trx === null || one.trx === other.trx;
}

function moneyDiffers(
  promised: { amount: bigint; currency: string },
  { amount, currency }: CollectionWord,
  witness: string,
): CollectionDifference[] {
  const expected = formatMinor(promised.amount, promised.currency);
  const between = `expectation and ${witness}`;
  if (currency !== null && currency !== promised.currency)
    return [
      differs('currency', `${promised.currency} ${expected}`, `${currency} ${amount ?? ''}`.trim(), between),
    ];
  return amount === null || sameAmount(expected, amount)
    ? []
    : [differs('amount', expected, amount, between)];
}

function differs(
  field: CollectionDifference['field'],
  expected: string,
  actual: string,
  between: string,
): CollectionDifference {
  return { field, expected, actual, between };
}

function sameAmount(one: string, other: string): boolean {
  const difference = decimalDifference(other, one);
  return difference === '' ? one === other : /^0(\.0+)?$/.test(difference);
}

function withAmount({ currency, amount }: CollectionWord): string {
  return `${currency ?? ''} ${amount ?? ''}`.trim();
}

function isOver({ status }: CollectionWord): boolean {
  return status === 'failed' || status === 'returned';
}

const hour = 60 * 60_000;
const day = 24 * hour;
const unheardRungs = [hour, 6 * hour];
/** For so long a collection that is not confirmed is asked about by itself. */
export const watchedForMs = 90 * day;

/**
 * How long until an unconfirmed collection is verified again, in milliseconds: often at first where a webhook says that
 * it came, else after an hour, six, and then daily, since payers take their time.
 */
export function collectionDelayMs(rung: number, heardForMs: number | null): number {
  if (heardForMs !== null) return ladderDelayMs(rung, heardForMs, day);
  return unheardRungs[rung] ?? day;
}
