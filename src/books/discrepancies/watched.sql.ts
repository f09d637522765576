import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { witnessStatuses } from '../../core/domain/payout.ts';
import type { PayoutRange } from '../../core/ledger/payout-ranges.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { Payout, Tables } from '../../core/storage/tables/tables.ts';
import { paidAgainIds } from '../../watching/evidence/lineage.sql.ts';
import { hasFinalWebhook } from '../../watching/lookups/final-webhooks.sql.ts';

const columns = [
  'id',
  'batch_id',
  'reference',
  'transfer_id',
  'trx',
  'amount',
  'currency',
  'state',
  'evidence',
  'message',
  'fee',
  'fee_by',
  'other_fees',
  'submitted_at',
  'final_at',
] as const;

/** What a discrepancy needs to know of a payout; `ended_at` is when its last attempt ended. */
export type WatchedPayout = Pick<Payout, (typeof columns)[number]> & { ended_at: string | null };

/** Which payouts a nightly question is about; times are ISO UTC. */
export type WatchedSet =
  /**
   * The service itself has shown or accepted it, but no row of the run's listing does. It was sent at or after
   * `sentSince`. Its attempt ended by `endedBy`, or a wrong clock stamped it later than `stampsUntil`.
   */
  | { kind: 'unlisted'; run: string; endedBy: string; stampsUntil: string; sentSince: string }
  | { kind: 'unknown' }
  /**
   * Pending since `submittedBy` or before, or stamped by a wrong clock. Left out where it counts as missing: by this run,
   * or by an earlier one and still not listed.
   */
  | { kind: 'stale'; run: string; submittedBy: string; stampsUntil: string }
  /** Final since `finalBy` or before, and no authentic webhook about its end was received. */
  | { kind: 'unheard'; finalBy: string }
  | { kind: 'returned' }
  /** Two sources name different fees for it. */
  | { kind: 'fees' }
  /** In success, or shown as paid against the ledger, although a successor of it was paid too, or may have been. */
  | { kind: 'paid_again'; run: string };

type InPayouts = ExpressionBuilder<Pick<Tables, 'payouts'>, 'payouts'>;

function listedIn(eb: InPayouts, run: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from listed where listed.run_id = ${run} and listed.payout_id = ${eb.ref('payouts.id')})`;
}

/** Called missing by this run, or by an earlier one and not resolved: one cause is one discrepancy. */
function missingStill(eb: InPayouts, run: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from discrepancies d where d.payout_id = ${eb.ref('payouts.id')}
    and d.kind = 'missing_at_service' and ${foundStill(run)})`;
}

/** What failed stays so while the witnesses contradict each other (P14), and may have been paid all the same. */
function shownAsPaid(eb: InPayouts, run: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from discrepancies d where d.payout_id = ${eb.ref('payouts.id')}
    and d.kind = 'status_conflict' and d.actual = 'success' and ${foundStill(run)})`;
}

/**
 * Discrepancy `d` was found by this run, whatever a person has said of it, or by an earlier one and is not resolved.
 */
function foundStill(run: string): RawBuilder<boolean> {
  return sql`(d.last_run_id = ${run} or d.state <> 'resolved')`;
}

/** Not sent again since the run began: what was is not for its list to show. */
function notSentSince(eb: InPayouts, run: string): Expression<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from history h where h.payout_id = ${eb.ref('payouts.id')}
    and h.id > (select history_mark from runs where id = ${run})
    and (h.from_state = 'sending' or h.to_state = 'sending'))`;
}

/** The next payouts of the watch in the range, by id. */
export async function watchedAfter(
  db: Db,
  watch: WatchedSet,
  { after, upTo }: PayoutRange,
  limit: number,
): Promise<WatchedPayout[]> {
  const base = db
    .selectFrom('payouts')
    .leftJoin('attempts', 'attempts.id', 'payouts.last_attempt_id')
    .select(columns.map((column) => `payouts.${column}` as const))
    .select('attempts.ended_at')
    .where('payouts.id', '>', after)
    .where('payouts.id', '<=', upTo)
    .orderBy('payouts.id')
    .limit(limit);
  switch (watch.kind) {
    case 'unlisted':
      return base
        .where('payouts.state', 'in', witnessStatuses)
        .where('payouts.submitted_at', '>=', watch.sentSince)
        .where((eb) =>
          eb.or([
            eb('attempts.ended_at', '<=', watch.endedBy),
            eb.and([eb('attempts.ended_at', '>', watch.stampsUntil), notSentSince(eb, watch.run)]),
            // Adopted, and never sent from this ledger (P25).
            eb.and([
              eb('payouts.last_attempt_id', 'is', null),
              eb('payouts.submitted_at', '<=', watch.endedBy),
            ]),
          ]),
        )
        .where((eb) => eb.not(listedIn(eb, watch.run)))
        .execute();
    case 'unknown':
      return base.where('payouts.state', '=', 'unknown').execute();
    case 'stale':
      return base
        .where('payouts.state', '=', 'pending')
        .where((eb) =>
          eb.or([
            eb('payouts.submitted_at', '<=', watch.submittedBy),
            eb('payouts.submitted_at', '>', watch.stampsUntil),
          ]),
        )
        .where((eb) => eb.or([listedIn(eb, watch.run), eb.not(missingStill(eb, watch.run))]))
        .execute();
    case 'unheard':
      return base
        .where('payouts.state', 'in', ['success', 'failed'])
        .where('payouts.final_at', '<=', watch.finalBy)
        .where((eb) => eb.not(hasFinalWebhook('payouts.id')))
        .execute();
    case 'returned':
      return base.where('payouts.state', '=', 'returned').execute();
    case 'fees':
      return base.where('payouts.other_fees', 'is not', null).execute();
    case 'paid_again':
      return base
        .where((eb) => eb.or([eb('payouts.state', '=', 'success'), shownAsPaid(eb, watch.run)]))
        .where('payouts.id', 'in', paidAgainIds)
        .execute();
  }
}
