import type { CollectionWitness } from './collection-witness.ts';
import { decimalDifference } from './discrepancy.ts';
import { ladderDelayMs } from './ladder.ts';
import { formatMinor } from './money.ts';
import type { Mode } from './payout.ts';

/**
 * The state of a collection.
 *
 * - `expected`: a file announced it
 * - `heard`: a webhook announced it, which is no proof
 * - `received`: the verify endpoint shows it as a success that agrees
 * - `failed`: the verify endpoint shows it as failed
 * - `conflict`: expectation, webhook and verify endpoint cannot all be true
 */
export const collectionStates = ['expected', 'heard', 'received', 'failed', 'conflict'] as const;
export type CollectionState = (typeof collectionStates)[number];

/** One field in which two words about a collection differ; amounts as plain decimals. */
export type CollectionDifference = {
  field: 'amount' | 'currency' | 'status' | 'domain' | 'trx';
  expected: string;
  actual: string;
  /** The two sources that differ, such as `expectation and verify`. */
  between: string;
};

/** All facts about one collection. `verified` is the verify endpoint's last word. */
export type CollectionFacts = {
  mode: Mode;
  promised: { amount: bigint; currency: string } | null;
  hasWebhook: boolean;
  webhook: CollectionWitness | null;
  /** The differences between two webhooks (P18). */
  dispute: readonly CollectionDifference[];
  verified: CollectionWitness | null;
  /** When the verify endpoint first showed it as received. */
  receivedAt: string | null;
};

/** Returns a collection's state and every difference between the facts. A webhook alone never makes it `received` (P14). */
export function judgeCollection(facts: CollectionFacts): {
  state: CollectionState;
  differences: CollectionDifference[];
} {
  const { promised, webhook, verified, mode } = facts;
  const differences = [...facts.dispute];
  const latest = completed(verified, webhook) ?? webhook;
  const witness = verified ? 'verify' : 'webhook';
  if (promised && latest && !isOver(latest)) differences.push(...moneyDiffers(promised, latest, witness));
  for (const [word, who] of [
    [verified, 'verify'],
    [webhook, 'webhook'],
  ] as const) {
    const domain = word?.domain ?? null;
    if (domain !== null && domain !== mode)
      differences.push({ field: 'domain', expected: mode, actual: domain, between: `this mode and ${who}` });
  }
  if (webhook && verified) {
    // If verify agrees with the expectation, the webhook is the one that differs.
    const isKept =
      promised !== null &&
      isSameTry(webhook, verified) &&
      !isOver(verified) &&
      moneyDiffers(promised, verified, '').length === 0;
    const differing = isKept
      ? witnessesDiffer(verified, webhook, 'verify and webhook')
      : witnessesDiffer(webhook, verified, 'webhook and verify');
    differences.push(...differing);
  }
  if (facts.receivedAt !== null && verified && isOver(verified) && webhook?.status !== 'success')
    differences.push(differs('status', 'success', verified.status, 'verify before and verify now'));
  return { state: differences.length > 0 ? 'conflict' : plainState(facts), differences };
}

/** Completes the verify endpoint's word from an authentic webhook about the same payment attempt. */
export function completed(
  verified: CollectionWitness | null,
  webhook: CollectionWitness | null,
): CollectionWitness | null {
  if (!verified || webhook?.status !== 'success') return verified;
  if (verified.trx !== null && webhook.trx !== null && verified.trx !== webhook.trx) return verified;
  return {
    ...verified,
    amount: verified.amount ?? webhook.amount,
    currency: verified.currency ?? webhook.currency,
  };
}

/** True for a success without an amount: only a shown amount can agree with the expected one (P13). */
export function lacksAmount({ status, amount }: CollectionWitness): boolean {
  return status === 'success' && amount === null;
}

function plainState({ promised, webhook, verified, hasWebhook }: CollectionFacts): CollectionState {
  const latest = completed(verified, webhook);
  if (latest?.status === 'success' && !(promised && lacksAmount(latest))) return 'received';
  if (verified && isOver(verified)) return 'failed';
  return hasWebhook ? 'heard' : 'expected';
}

/**
 * Merges one more webhook: returns the word that counts, and where the two differ (P18). A final word after pending is
 * no difference. A failure under another trx was another attempt of the payer; two successes mean paid twice.
 */
export function mergeWebhook(
  before: CollectionWitness | null,
  next: CollectionWitness,
): { webhook: CollectionWitness; dispute: CollectionDifference[] } {
  if (!before) return { webhook: next, dispute: [] };
  const sameTry = isSameTry(before, next);
  if (!sameTry && before.status !== 'success') return { webhook: next, dispute: [] };
  const dispute = witnessesDiffer(before, next, 'two webhooks');
  const moved = before.status === 'pending' && dispute.length === 0;
  return { webhook: moved ? next : before, dispute };
}

/** Adds differences, which are never removed: earlier ones first, each once, at most 20. */
export function withDispute(
  before: readonly CollectionDifference[],
  more: readonly CollectionDifference[],
): CollectionDifference[] {
  const all = [...before, ...more].map((one) => [JSON.stringify(one), one] as const);
  return [...new Map(all).values()].slice(0, 20);
}

/** Where two words about one collection differ. Two attempts of a payer, one of them failed, do not. */
export function witnessesDiffer(
  one: CollectionWitness,
  other: CollectionWitness,
  between: string,
): CollectionDifference[] {
  if (!isSameTry(one, other)) {
    if (one.status !== 'success' || other.status !== 'success') return [];
    return [differs('trx', one.trx ?? '', other.trx ?? '', `${between}: paid twice`)];
  }
  const list: CollectionDifference[] = [];
  if (one.currency !== null && other.currency !== null && one.currency !== other.currency)
    list.push(differs('currency', withAmount(one), withAmount(other), between));
  else if (one.amount !== null && other.amount !== null && !sameAmount(one.amount, other.amount))
    list.push(differs('amount', one.amount, other.amount, between));
  if (one.domain !== null && other.domain !== null && one.domain !== other.domain)
    list.push(differs('domain', one.domain, other.domain, between));
  if (one.status !== other.status && one.status !== 'pending' && other.status !== 'pending')
    list.push(differs('status', one.status, other.status, between));
  return list;
}

function isSameTry(one: CollectionWitness, other: CollectionWitness): boolean {
  return one.trx === null || other.trx === null || one.trx === other.trx;
}

function moneyDiffers(
  promised: { amount: bigint; currency: string },
  { amount, currency }: CollectionWitness,
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

function withAmount({ currency, amount }: CollectionWitness): string {
  return `${currency ?? ''} ${amount ?? ''}`.trim();
}

function isOver({ status }: CollectionWitness): boolean {
  return status === 'failed' || status === 'returned';
}

const hour = 60 * 60_000;
const day = 24 * hour;
const unheardRungs = [hour, 6 * hour];
/** How long an unconfirmed collection is asked about without another cause. */
export const watchedForMs = 90 * day;

/**
 * The delay before an unconfirmed collection is verified again, in milliseconds. After a webhook it is short at first.
 * Without one it is an hour, then six, then a day, since payers take their time.
 */
export function collectionDelayMs(rung: number, heardForMs: number | null): number {
  if (heardForMs !== null) return ladderDelayMs(rung, heardForMs, day);
  return unheardRungs[rung] ?? day;
}
