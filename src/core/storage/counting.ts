import type { SelectQueryBuilder } from 'kysely';

/** How many rows this query finds. */
export async function countRows<DB, Names extends keyof DB>(
  query: SelectQueryBuilder<DB, Names, object>,
): Promise<number> {
  const counted = query.select((eb) => eb.fn.countAll<bigint>().as('n')).$castTo<{ n: bigint }>();
  return Number((await counted.executeTakeFirstOrThrow()).n);
}

/** Whether this query finds any row. */
export async function hasRow<DB, Names extends keyof DB>(
  query: SelectQueryBuilder<DB, Names, object>,
): Promise<boolean> {
  const first = query.select((eb) => eb.lit(1).as('one')).limit(1);
  return (await first.executeTakeFirst()) !== undefined;
}
