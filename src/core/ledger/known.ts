import { type Mode, provingSources } from '../domain/payout.ts';
import { type ExpectedTransfer, firstIntentOf } from '../domain/witness.ts';
import { idList } from '../storage/bulk.ts';
import { hasRow } from '../storage/counting.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Attempt, Payout } from '../storage/tables/tables.ts';
import { newestId } from './history.ts';
import { ledgerMode } from './meta.ts';
import { restsOnAny } from './stored-sets.ts';

/** A payout, and what a witness of it must show. */
export type KnownPayout = { payout: Payout; expected: ExpectedTransfer };

/** Loads payouts with the facts a witness is compared with. */
export async function loadKnown(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, KnownPayout>> {
  const mode = await ledgerMode(db);
  const wanted = idList(ids);
  const rows = await db.selectFrom('payouts').selectAll().where('id', 'in', wanted).execute();
  const attempts = await attemptsOf(db, ids);
  return new Map(
    rows.map((payout) => [
      payout.id,
      { payout, expected: expectedOf(payout, mode, attempts.get(payout.id) ?? []) },
    ]),
  );
}

/** What a witness is compared with, of an attempt; `began_at` is null where there is none. */
export type Began = Pick<Attempt, 'outcome' | 'clock_off_ms'> & { began_at: string | null };

async function attemptsOf(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, Began[]>> {
  const rows = await db
    .selectFrom('attempts')
    .select(['payout_id', 'began_at', 'outcome', 'clock_off_ms'])
    .where('payout_id', 'in', idList(ids))
    .orderBy('number')
    .execute();
  return Map.groupBy(rows, ({ payout_id }) => payout_id);
}

/**
 * The first intent of a payout, corrected where its first attempt made it (P15): the first that is not proven not sent. An
 * adopted payout may have been sent by the ledger that was lost, before that (P25).
 */
export function firstIntent(submittedAt: string | null, attempts: readonly Began[]): string | null {
  const first = attempts.find(({ outcome }) => outcome !== 'not_sent');
  return first?.began_at === submittedAt
    ? firstIntentOf(submittedAt, first?.clock_off_ms ?? null)
    : submittedAt;
}

function expectedOf(payout: Payout, mode: Mode, own: readonly Began[]): ExpectedTransfer {
  return {
    reference: payout.reference,
    referenceKey: payout.reference_key,
    transferId: payout.transfer_id,
    trx: payout.trx,
    amount: payout.amount,
    currency: payout.currency,
    accountNumber: payout.account_number,
    bankCode: payout.bank_code,
    mode,
    firstIntentAt: firstIntent(payout.submitted_at, own),
    accepted: own.some(({ outcome }) => outcome === 'accepted'),
  };
}

/** The attempts in flight at an instant. A look-up or list that begins then says nothing about them (P4). */
export type AttemptMark = { last: bigint; underWay: readonly bigint[] };

export function newestWebhook(db: Db | Trx): Promise<bigint> {
  return newestId(db, 'webhooks');
}

/** Marks the instant before a look-up or list begins. It uses ids, not times, since clocks may jump. */
export async function markAttempts(db: Db): Promise<AttemptMark> {
  // The newest id is read first: an attempt that begins between the two reads is newer, so both rules cover it.
  const last = await newestId(db, 'attempts');
  const open = await db.selectFrom('attempts').select('id').where('outcome', 'is', null).execute();
  return { last, underWay: open.map(({ id }) => id) };
}

/** Returns those of these payouts with an attempt in flight at the mark, or begun since (P4). */
export async function attemptedSince(
  trx: Trx,
  mark: AttemptMark,
  payoutIds: readonly bigint[],
): Promise<Set<bigint>> {
  if (payoutIds.length === 0) return new Set();
  const rows = await trx
    .selectFrom('attempts')
    .select('payout_id')
    .where('payout_id', 'in', idList(payoutIds))
    .where((eb) => eb.or([eb('id', '>', mark.last), eb('id', 'in', idList(mark.underWay))]))
    .execute();
  return new Set(rows.map((row) => row.payout_id));
}

/** Returns when each of these payouts last became unknown; the quiet period counts from then (P19). */
export async function unknownSince(db: Db | Trx, payoutIds: readonly bigint[]): Promise<Map<bigint, string>> {
  const rows = await db
    .selectFrom('history')
    .select((eb) => ['payout_id', eb.fn.max('at').as('at')])
    .where('payout_id', 'in', idList(payoutIds))
    .where('to_state', '=', 'unknown')
    .where('from_state', '<>', 'unknown')
    .groupBy('payout_id')
    .execute();
  return new Map(rows.map((row) => [row.payout_id, row.at]));
}

/** Returns our latest payout that the service has shown: a look-up with a working key must find it (P16). */
export async function presentPayout(db: Db | Trx): Promise<KnownPayout | undefined> {
  for (const state of ['success', 'pending'] as const) {
    const row = await db
      .selectFrom('payouts')
      .select('id')
      .where('state', '=', state)
      .where(restsOnAny('evidence', provingSources))
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row) return (await loadKnown(db, [row.id])).get(row.id);
  }
  return undefined;
}

/** Whether the service has given any payout sent since then (ISO UTC, empty: ever) an id, if only in a webhook. */
export async function takenPayout(db: Db | Trx, sentSince = ''): Promise<boolean> {
  for (const name of ['transfer_id', 'trx'] as const) {
    const named = db.selectFrom('payouts').where(name, 'is not', null);
    if (await hasRow(named.where('submitted_at', '>=', sentSince))) return true;
  }
  return false;
}
