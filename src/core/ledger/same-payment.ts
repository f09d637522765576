import { type RawBuilder, sql } from 'kysely';

type Value = RawBuilder<unknown>;

/** So many dropped zeros are found. */
const mostZeros = 6;

/** The leading zeros that {@link paysTheSame} tries, the account as it is first. To be joined as `z`. */
export const otherZeros: Value = sql`(select cast(null as text) as zeros ${sql.join(
  Array.from({ length: mostZeros + 1 }, (_, zeros) => sql`union all select ${sql.lit('0'.repeat(zeros))}`),
  sql` `,
)})`;

/**
 * True in SQL where the row of `alias` pays the same amount to the same account, spelled as `z` has it. With other leading
 * zeros it is the same account, since a spreadsheet drops them; one in NGN has ten digits and one spelling.
 */
export function paysTheSame(
  alias: string,
  { account, currency, amount }: { account: Value; currency: Value; amount: Value },
): RawBuilder<boolean> {
  const own = (column: string): Value => sql.ref(`${alias}.${column}`);
  const other = sql`z.zeros || ltrim(${account}, '0')`;
  return sql<boolean>`((z.zeros is null or (${currency} <> 'NGN' and ${other} <> ${account}))
    and ${own('account_number')} = coalesce(${other}, ${account})
    and ${own('currency')} = ${currency} and ${own('amount')} = ${amount})`;
}

/** What the payout of an alias pays, for {@link paysTheSame}. */
export function paymentOf(alias: string): { account: Value; currency: Value; amount: Value } {
  const own = (column: string): Value => sql.ref(`${alias}.${column}`);
  return { account: own('account_number'), currency: own('currency'), amount: own('amount') };
}
