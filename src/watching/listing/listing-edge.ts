import { edgeOf, sentInside } from '../../core/domain/list-order.ts';
import type { ListedTransfer } from '../../core/domain/listed-transfer.ts';
import { decimalToMinor } from '../../core/domain/money.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { PageAnswer, PageQuestion } from './listing-ask.ts';
import type { Reach } from './listing-pass.ts';
import { type Base, type OpenPayout, olderRows, openBefore } from './short-cuts.sql.ts';

type Deps = {
  ledger: Ledger;
  ask(question: PageQuestion): Promise<PageAnswer>;
  settings: { windowDays: number };
};

/** Above this number, open payouts are not excused one by one: the edge then goes back to the oldest. */
const mostExcused = 20_000;
const mostPages = 2_000;

/**
 * P29: returns how far a short cut on this base must walk. Payouts that may still move pull the edge back. Those that
 * the list of pending transfers shows as pending do not: their rows would bring nothing new.
 */
export async function reachOf(
  { ledger, ask, settings }: Deps,
  { base, begunAt, signal }: { base: Base; begunAt: string; signal?: AbortSignal },
): Promise<Reach> {
  const facts = { begunAt, windowDays: settings.windowDays, baseCut: base.cut };
  const nearest = edgeOf({ ...facts, oldestOpenAt: null });
  // A payout sent within the clocks' skew of the edge may have been created beyond it.
  const open = await openBefore(ledger.db, sentInside(nearest), mostExcused + 1);
  const excused =
    open.length > 0 && open.length <= mostExcused ? await shownPending(ask, open, signal) : new Set();
  const oldest = open.find((payout) => !excused.has(payout));
  const edge = edgeOf({ ...facts, oldestOpenAt: oldest?.submitted_at ?? null });
  const older = await olderRows(ledger.db, base.run, edge);
  return older === 0 ? { kind: 'whole' } : { kind: 'window', order: base.order, edge, older };
}

/** Returns those of these payouts that the list of pending transfers shows with matching fields. */
async function shownPending(
  ask: Deps['ask'],
  open: readonly OpenPayout[],
  signal?: AbortSignal,
): Promise<Set<OpenPayout>> {
  const wanted = new Map(
    open.flatMap((one) => (one.state === 'pending' ? [[one.reference_key, one] as const] : [])),
  );
  const matching = new Set<OpenPayout>();
  for (let page = 1, last = 1; page <= Math.min(last, mostPages) && matching.size < wanted.size; page++) {
    const answer = await ask({ page, status: 'pending', underWay: page > 1, ...(signal && { signal }) });
    // A payout that is not found keeps the edge back: that costs only time.
    if (answer.kind !== 'page') return matching;
    last = answer.page.lastPage;
    for (const item of answer.page.items) {
      const payout = wanted.get(item.reference.toLowerCase());
      if (payout && agrees(payout, item)) matching.add(payout);
    }
  }
  return matching;
}

function agrees(payout: OpenPayout, item: ListedTransfer): boolean {
  return (
    item.status.toLowerCase() === 'pending' &&
    item.currency.toUpperCase() === payout.currency &&
    decimalToMinor(item.amount, payout.currency) === payout.amount &&
    item.account_number === payout.account_number &&
    item.bank_code === payout.bank_code
  );
}
