import { type RawBuilder, sql } from 'kysely';

type Value = RawBuilder<unknown>;

/** So many dropped zeros are found. */
const mostZeros = 6;

/**
 * True in SQL where the row of `alias` pays the same amount to the same account. With other leading zeros it is the same
 * account, since a spreadsheet drops them; one in NGN has ten digits and one spelling.
 */
export function paysTheSame(
  alias: string,
  { account, currency, amount }: { account: Value; currency: Value; amount: Value },
): RawBuilder<boolean> {
  const own = (column: string): Value => sql.ref(`${alias}.${column}`);
  const spelled = Array.from(
    { length: mostZeros + 1 },
    (_, zeros) => sql`${sql.lit('0'.repeat(zeros))} || ltrim(${account}, '0')`,
  );
  const isSpelled = (is: Value): Value =>
    sql`${own('account_number')} ${is} and ${own('currency')} = ${currency} and ${own('amount')} = ${amount}`;
  return sql<boolean>`(${isSpelled(sql`= ${account}`)}
    or ${currency} <> 'NGN' and ${isSpelled(sql`in (${sql.join(spelled)})`)})`;
}

/** What the payout of an alias pays, for {@link paysTheSame}. */
export function paymentOf(alias: string): { account: Value; currency: Value; amount: Value } {
  const own = (column: string): Value => sql.ref(`${alias}.${column}`);
  return { account: own('account_number'), currency: own('currency'), amount: own('amount') };
}
