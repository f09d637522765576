import { decimalToMinor } from '../../core/domain/money.ts';
import { asObject, asText, parseLossless } from '../../core/service/json.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';

const rowsPerRead = 1000;

/**
 * Counts, for each of these payouts, the unmatched authentic webhooks since `from` with its account, currency and
 * amount: the service may have reported it under its own reference.
 */
export async function unmatchedLike(
  trx: Trx,
  from: string,
  payouts: readonly Pick<Payout, 'id' | 'account_number' | 'currency' | 'amount'>[],
): Promise<Map<bigint, number>> {
  const counts = new Map<bigint, number>();
  const idsOf = Map.groupBy(payouts, ({ account_number, currency, amount }) =>
    moneyKey(account_number, currency, amount),
  );
  for (let after: bigint | null = payouts.length === 0 ? null : 0n; after !== null; ) {
    const rows: { id: bigint; body: Uint8Array }[] = await trx
      .selectFrom('webhooks')
      .select(['id', 'body'])
      .where('kind', '=', 'payout')
      .where('payout_id', 'is', null)
      .where('received_at', '>=', from)
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { body } of rows) {
      const key = keyOf(body);
      for (const { id } of (key === null ? undefined : idsOf.get(key)) ?? [])
        counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    after = rows.length < rowsPerRead ? null : (rows.at(-1)?.id ?? null);
  }
  return counts;
}

function keyOf(body: Uint8Array): string | null {
  const fields = asObject(parseLossless(Buffer.from(body).toString('utf8')));
  const account = asText(fields?.account_number);
  const currency = asText(fields?.currency)?.toUpperCase();
  const amount = asText(fields?.amount);
  if (account === null || currency === undefined || amount === null) return null;
  const minor = decimalToMinor(amount, currency);
  return minor === null ? null : moneyKey(account, currency, minor);
}

function moneyKey(account: string, currency: string, amount: bigint): string {
  return `${account} ${currency} ${amount}`;
}
