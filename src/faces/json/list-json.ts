import { ageDays } from '../../books/ageing.ts';
import { livesOf } from '../../books/discrepancies/discrepancy-events.sql.ts';
import { money } from '../../books/presentation.ts';
import { moneyStanding } from '../../core/domain/payout.ts';
import type { BatchCounts } from '../../core/ledger/batches.ts';
import { readReasons } from '../../core/ledger/hold-reasons.ts';
import type { Payee } from '../../core/ledger/payee-list.ts';
import type { ListedPayout, sumPayouts } from '../../core/ledger/payout-list.ts';
import type { JsonOf } from '../../core/shapes/json-shapes.ts';
import type { ListedBatchJson, ListedPayoutJson, PayoutsJson } from '../../core/shapes/list-shapes.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { Discrepancy } from '../../core/storage/tables/tables.ts';
import { withAction } from '../../words/discrepancy-words.ts';
import { holdTexts, sightOfAll } from '../../words/hold-words.ts';

/** Why a batch is held, each with the way out. */
export function heldBecause(
  { batch, state }: Pick<BatchCounts, 'batch' | 'state'>,
  sight = sightOfAll,
): string[] {
  return state === 'held' ? holdTexts(readReasons(batch.hold_reasons), batch.id, sight) : [];
}

export function listedBatchJson(
  { batch, state, counts, sums, totals }: BatchCounts,
  sight = sightOfAll,
): ListedBatchJson {
  const standing = (wanted: 'paid' | 'open') =>
    Object.fromEntries(
      [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, all]) => {
        const own = all.filter((one) => moneyStanding[one.state] === wanted);
        const minor = own.reduce((total, one) => total + one.minor, 0n);
        const count = own.reduce((total, one) => total + one.count, 0);
        return [currency, { count, amount: money(minor, currency) }];
      }),
    );
  return {
    batch: batch.id,
    file: batch.file_name,
    state,
    taken_in_at: batch.created_at,
    dropped_by: batch.dropped_by,
    rows: Number(batch.row_count),
    payouts: counts,
    totals,
    paid: standing('paid'),
    open: standing('open'),
    hold_reasons: heldBecause({ batch, state }, sight),
  };
}

/** `account` masks the account number, or not. */
export function listedPayoutJson(one: ListedPayout, account: (text: string) => string): ListedPayoutJson {
  const { batch_id: batch, row_number: row, id: _id, amount, account_number: number, ...rest } = one;
  const shown = { amount: money(amount, one.currency), account_number: account(number) };
  return { ...rest, batch, row: Number(row), ...shown };
}

export function payoutTotalsJson(
  sums: Awaited<ReturnType<typeof sumPayouts>>,
): Pick<PayoutsJson, 'matching' | 'totals'> {
  const totals = [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, all]) => {
    const states = all.map(({ state, count, minor }) => [state, { count, amount: money(minor, currency) }]);
    const minor = all.reduce((total, one) => total + one.minor, 0n);
    const count = all.reduce((total, one) => total + one.count, 0);
    return [currency, { count, amount: money(minor, currency), states: Object.fromEntries(states) }];
  });
  const matching = sums.reduce((total, { count }) => total + count, 0);
  return { matching, totals: Object.fromEntries(totals) };
}

/** Each discrepancy with the report's columns, the ledger's columns and its life. `now`: ISO UTC. */
export async function discrepanciesJson(
  db: Db,
  found: readonly Discrepancy[],
  now: string,
): Promise<JsonOf<'discrepancies'>['discrepancies']> {
  const lives = await livesOf(
    db,
    found.map(({ id }) => id),
  );
  return found.map((d) => ({
    discrepancy_id: d.id,
    batch: d.batch_id,
    age_days: ageDays(d.first_seen_at, now),
    ...withAction(d),
    payout_id: d.payout_id === null ? null : Number(d.payout_id),
    reopened: Number(d.reopened),
    closed_with_payout: Number(d.closed_with_payout),
    life: lives.get(d.id) ?? [],
  }));
}

/** `account` masks the account number, or not. */
export function payeeJson(one: Payee, account: (text: string) => string): JsonOf<'payees'>['payees'][number] {
  return { ...one, account_number: account(one.account_number) };
}
