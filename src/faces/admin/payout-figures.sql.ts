import { sql } from 'kysely';
import {
  type BatchState,
  batchState,
  openStates,
  type PayoutState,
  payoutStates,
} from '../../core/domain/payout.ts';
import { recounted, replacedSums } from '../../core/ledger/replaced.ts';
import type { Db } from '../../core/storage/ledger.ts';

/**
 * Payouts and amounts, in minor units, by state and currency, from the kept totals. Those of batches still being taken in
 * are absent.
 */
export async function payoutFigures(db: Db) {
  const rows = await db
    .selectFrom('payout_totals')
    .select(['currency', 'state', sql<bigint>`sum(n)`.as('n'), sql<bigint>`sum(amount)`.as('amount')])
    .groupBy(['currency', 'state'])
    .orderBy('currency')
    .orderBy('state')
    .execute();
  return recounted(rows, await replacedSums(db)).map(({ currency, state, n, amount }) => ({
    currency,
    state,
    count: Number(n),
    amount,
  }));
}

type BatchGroup = { phase: 'loading' | 'loaded' | 'cancelled'; n: bigint } & Record<PayoutState, bigint>;

/** Batches by state. They are grouped by the states that their payouts are in, which is all that decides. */
export async function batchFigures(db: Db): Promise<Partial<Record<BatchState, number>>> {
  const has = sql.join(
    payoutStates.map(
      (state) =>
        sql`max(case when t.state = ${sql.lit(state)} and t.n > 0 then 1 else 0 end) as ${sql.ref(state)}`,
    ),
  );
  const columns = sql.join(payoutStates.map((state) => sql.ref(state)));
  const { rows } = await sql<BatchGroup>`select phase, ${columns}, count(*) as n
    from (select b.phase, ${has} from batches b left join payout_totals t on t.batch_id = b.id group by b.id, b.phase) g
    group by phase, ${columns}`.execute(db);
  const figures: Partial<Record<BatchState, number>> = {};
  for (const { phase, n, ...states } of rows) {
    const counts = Object.fromEntries(payoutStates.map((state) => [state, Number(states[state])]));
    const state = batchState(phase, counts);
    figures[state] = (figures[state] ?? 0) + Number(n);
  }
  return figures;
}

/** How many payouts of a state the search for the oldest reads: those that were taken in first. */
const mostRead = 200;

/**
 * When the oldest payout of each state was first sent, or taken in if it never was, ISO UTC. Looks at the payouts that
 * were taken in first, and not at a whole million of them.
 */
export async function oldestFigures(db: Db): Promise<{ state: PayoutState; since: string }[]> {
  const found = await Promise.all(
    openStates.map(async (state) => {
      const { rows } = await sql<{
        since: string | null;
      }>`select min(coalesce(p.submitted_at, b.created_at)) as since
        from (select batch_id, submitted_at from payouts where state = ${sql.lit(state)} order by id limit ${sql.lit(mostRead)}) p
        join batches b on b.id = p.batch_id`.execute(db);
      return { state, since: rows[0]?.since ?? null };
    }),
  );
  return found.flatMap(({ state, since }) => (since === null ? [] : [{ state, since }]));
}

export async function attemptFigures(db: Db) {
  const rows = await db.selectFrom('attempt_totals').selectAll().orderBy('outcome').execute();
  const open = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    byOutcome: rows.map(({ outcome, n }) => ({ outcome, count: Number(n) })),
    underWay: Number(open.n),
  };
}
