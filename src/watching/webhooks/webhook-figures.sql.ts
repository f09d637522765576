import { sql } from 'kysely';
import { resendBudget, resendSpacingMs } from '../../core/domain/resend-budget.ts';
import type { ResendFigures, WebhookFigures } from '../../core/shapes/run-shapes.ts';
import { instantPlus } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { firstFinalWebhookOf } from '../lookups/final-webhooks.sql.ts';

const forgedTally = 'forged';

/**
 * The figures as of `now`. A payout's webhook is due `graceMs` after its final state was first known. Where no webhook
 * can reach us (`enabled` false) none is due, and none is missing.
 */
export async function webhookFigures(
  db: Db,
  about: { enabled: boolean; now: string; graceMs: number },
): Promise<WebhookFigures> {
  const forged = await forgedSince(db);
  if (!about.enabled) return { due: 0, heard: 0, late: 0, forged, resent: 0 };
  const by = new Date(Date.parse(about.now) - about.graceMs).toISOString();
  const { rows } = await sql<{ due: bigint; heard: bigint; late: bigint; resent: bigint }>`
    select count(*) as due, count(first_at) as heard,
      coalesce(sum(case when first_at > ${instantPlus(sql`final_at`, about.graceMs)} then 1 else 0 end), 0) as late,
      coalesce(sum(case when first_at >= asked_at then 1 else 0 end), 0) as resent
    from (select p.final_at,
        ${firstFinalWebhookOf('p.id')} as first_at,
        (select min(r.asked_at) from resend_requests r where r.payout_id = p.id) as asked_at
      from payouts p
      where p.state in ('success', 'failed') and p.final_at <= ${by}) t`.execute(db);
  const [row] = rows;
  const number = (value: bigint | undefined): number => Number(value ?? 0n);
  return {
    due: number(row?.due),
    heard: number(row?.heard),
    late: number(row?.late),
    forged,
    resent: number(row?.resent),
  };
}

/** The results of all requests so far. */
export async function resendFigures(db: Db, now: string): Promise<ResendFigures> {
  const over = new Date(Date.parse(now) - resendSpacingMs(resendBudget)).toISOString();
  const { rows } = await sql<{ asked: bigint; heard: bigint; gave_up: bigint; waiting: bigint }>`
    select coalesce(sum(case when made > 0 then 1 else 0 end), 0) as asked,
      coalesce(sum(case when made > 0 and heard_at >= first_at then 1 else 0 end), 0) as heard,
      coalesce(sum(case when heard_at is null and made >= ${resendBudget} and last_at <= ${over} then 1 else 0 end), 0)
        as gave_up,
      coalesce(sum(case when heard_at is null then waiting else 0 end), 0) as waiting
    from (select count(r.asked_at) as made, min(r.asked_at) as first_at, max(r.asked_at) as last_at,
        sum(case when r.outcome is null and r.asked_at is null then 1 else 0 end) as waiting,
        case when r.payout_id is null
          then (select c.heard_at from collections c where c.id = r.collection_id)
          else ${firstFinalWebhookOf('r.payout_id')} end as heard_at
      from resend_requests r group by r.payout_id, r.collection_id) t`.execute(db);
  const [row] = rows;
  const number = (value: bigint | undefined): number => Number(value ?? 0n);
  return {
    asked: number(row?.asked),
    heard: number(row?.heard),
    gave_up: number(row?.gave_up),
    waiting: number(row?.waiting),
  };
}

/** Counts deliveries with a wrong signature; they could not be counted later, since stored rejections are bounded. */
export async function tallyForged(trx: Trx, n: number): Promise<void> {
  if (n === 0) return;
  await trx
    .insertInto('tallies')
    .values({ name: forgedTally, n: BigInt(n) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ n: sql`tallies.n + excluded.n` }))
    .execute();
}

/** Deliveries with a wrong signature since the last run. */
export async function forgedSince(db: Db): Promise<number> {
  const row = await db
    .selectFrom('tallies')
    .select(['n', 'seen'])
    .where('name', '=', forgedTally)
    .executeTakeFirst();
  return row ? Number(row.n - row.seen) : 0;
}

/** Marks these as reported by a run: the next one counts from here. */
export async function forgedReported(trx: Trx, reported: number): Promise<void> {
  await trx
    .updateTable('tallies')
    .set({ seen: sql`seen + ${BigInt(reported)}` })
    .where('name', '=', forgedTally)
    .execute();
}
