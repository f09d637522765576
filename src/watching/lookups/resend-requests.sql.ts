import { sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import { longestSpacingMs, resendBudget, resendSpacingMs } from '../../core/domain/resend-budget.ts';
import { later } from '../../core/domain/wait.ts';
import { field, idList, integerField, rowsOf } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { ResendRequest } from '../../core/storage/tables/collection-tables.ts';
import { hasFinalWebhook } from './final-webhooks.sql.ts';

/** The payout or collection whose webhook is requested again. */
export type ResendSubject = { kind: 'payout' | 'transaction'; id: bigint };

/** A request that may be made now. */
export type DueResend = { id: bigint; subject: ResendSubject; reference: string };

const columnOf = (kind: ResendSubject['kind']): 'payout_id' | 'collection_id' =>
  kind === 'payout' ? 'payout_id' : 'collection_id';

/** The payout of this reference, whatever its case; undefined where the ledger has none. */
export async function payoutToAsk(db: Db, reference: string): Promise<ResendSubject | undefined> {
  const row = await db
    .selectFrom('payouts')
    .select('id')
    .where('reference_key', '=', foldReference(reference))
    .executeTakeFirst();
  return row && { kind: 'payout', id: row.id };
}

type Spent = { id: bigint; n: bigint; last: string | null };

/** How many requests were made, or may have been, and when the last one was. */
async function spentOn(
  db: Db | Trx,
  kind: ResendSubject['kind'],
  ids: readonly bigint[],
): Promise<Map<bigint, Spent>> {
  const column = columnOf(kind);
  const rows = await db
    .selectFrom('resend_requests')
    .select((eb) => [
      `${column} as id`,
      eb.fn.countAll<bigint>().as('n'),
      eb.fn.max<string | null>('asked_at').as('last'),
    ])
    .where(column, 'in', idList(ids))
    .where('asked_at', 'is not', null)
    .groupBy(column)
    .execute();
  return new Map(rows.flatMap(({ id, n, last }) => (id === null ? [] : [[id, { id, n, last }] as const])));
}

/**
 * Schedules requests, at most one for each subject. A subject whose budget is spent gets none; otherwise the request
 * keeps the distance required between two for one reference. A person (`now`) is bound by neither. Returns how many are
 * new.
 */
export async function wantResends(
  trx: Trx,
  kind: ResendSubject['kind'],
  ids: readonly bigint[],
  want: { at: string; reason: string; now?: boolean },
): Promise<number> {
  if (ids.length === 0) return 0;
  const column = columnOf(kind);
  const spent = await spentOn(trx, kind, ids);
  const rows = ids.flatMap((id) => {
    const { n = 0n, last = null } = spent.get(id) ?? {};
    if (!want.now && n >= BigInt(resendBudget)) return [];
    const earliest =
      last === null || want.now
        ? want.at
        : later(last < want.at ? last : want.at, resendSpacingMs(Number(n)));
    return [{ id, due_at: earliest > want.at ? earliest : want.at }];
  });
  if (rows.length === 0) return 0;
  const done = await sql`insert into resend_requests (${sql.ref(column)}, reason, due_at)
    select ${integerField('id')}, ${want.reason}, ${field('due_at')} from ${rowsOf(rows)} as row
    where not exists (select 1 from resend_requests r
      where r.${sql.ref(column)} = ${integerField('id')} and r.outcome is null) order by row.key`.execute(
    trx,
  );
  if (want.now) {
    // A request that already waits serves the person's order.
    await trx
      .updateTable('resend_requests')
      .set({ due_at: want.at, reason: want.reason })
      .where(column, 'in', idList(ids))
      .where('outcome', 'is', null)
      .where('asked_at', 'is', null)
      .execute();
  }
  return Number(done.numAffectedRows ?? 0n);
}

/** The request that is overdue the longest; with `only`, of these subjects. */
export async function nextDueRequest(
  db: Db,
  { at, only }: { at: string; only?: readonly ResendSubject[] },
): Promise<DueResend | undefined> {
  let query = db
    .selectFrom('resend_requests as r')
    .leftJoin('payouts as p', 'p.id', 'r.payout_id')
    .leftJoin('collections as c', 'c.id', 'r.collection_id')
    .select([
      'r.id',
      'r.payout_id',
      'r.collection_id',
      sql<string>`coalesce(p.reference, c.reference)`.as('reference'),
    ])
    .where('r.outcome', 'is', null)
    .where('r.asked_at', 'is', null)
    .where('r.due_at', '<=', at);
  if (only) {
    const among = (kind: ResendSubject['kind']) => {
      const ids = only.filter((one) => one.kind === kind).map(({ id }) => id);
      return idList(ids);
    };
    query = query.where((eb) =>
      eb.or([eb('r.payout_id', 'in', among('payout')), eb('r.collection_id', 'in', among('transaction'))]),
    );
  }
  const row = await query.orderBy('r.due_at').orderBy('r.id').limit(1).executeTakeFirst();
  if (!row) return undefined;
  const id = row.payout_id ?? row.collection_id ?? 0n;
  return {
    id: row.id,
    subject: { kind: row.payout_id === null ? 'transaction' : 'payout', id },
    reference: row.reference,
  };
}

/** Whether the webhook of this subject has come by now. */
async function isHeard(trx: Trx, { kind, id }: ResendSubject): Promise<boolean> {
  if (kind === 'transaction') {
    const row = await trx
      .selectFrom('collections')
      .select('heard_at')
      .where('id', '=', id)
      .executeTakeFirst();
    return row !== undefined && row.heard_at !== null;
  }
  const row = await trx
    .selectFrom('payouts')
    .select('id')
    .where('id', '=', id)
    .where(hasFinalWebhook('payouts.id'))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Claims a due request for this process before it leaves, so that a crash never repeats it. Fails when another process
 * has claimed it, or when the webhook has come meanwhile, unless a person wants it anyway.
 */
export async function claimResend(
  trx: Trx,
  { id, subject }: DueResend,
  at: string,
  evenIfHeard: boolean,
): Promise<boolean> {
  const open = trx.updateTable('resend_requests').where('id', '=', id).where('outcome', 'is', null);
  if (!evenIfHeard && (await isHeard(trx, subject))) {
    await open.where('asked_at', 'is', null).set({ outcome: 'heard', answered_at: at }).execute();
    return false;
  }
  const claimed = await open.where('asked_at', 'is', null).set({ asked_at: at }).executeTakeFirst();
  return claimed.numUpdatedRows > 0n;
}

/** Records the result of a request; one that has been closed since stays as it is. */
export async function closeResend(
  trx: Trx,
  id: bigint,
  closed: { at: string; outcome: NonNullable<ResendRequest['outcome']>; raw: string },
): Promise<void> {
  await trx
    .updateTable('resend_requests')
    .set({ answered_at: closed.at, outcome: closed.outcome, raw: closed.raw.slice(0, 4096) })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute();
}

/** Reschedules a request that the service turned away; it counts towards no budget. */
export async function postponeResend(trx: Trx, id: bigint, dueAt: string): Promise<void> {
  await trx
    .updateTable('resend_requests')
    .set({ asked_at: null, due_at: dueAt })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute();
}

/** Closes requests that a dead process claimed and never ended. They may have been made, so they count as made. */
export async function reapResends(
  trx: Trx,
  at: string,
  apart: { before: string; after: string },
): Promise<void> {
  await trx
    .updateTable('resend_requests')
    .set({ outcome: 'no_answer', answered_at: at })
    .where('outcome', 'is', null)
    .where((eb) => eb.or([eb('asked_at', '<', apart.before), eb('asked_at', '>', apart.after)]))
    .execute();
}

/** Shortens waits that a clock which ran ahead made too long to the longest one between two requests (P33). */
export async function capResends(trx: Trx, at: string): Promise<void> {
  const latest = later(at, longestSpacingMs);
  await trx
    .updateTable('resend_requests')
    .set({ due_at: latest })
    .where('outcome', 'is', null)
    .where('due_at', '>', latest)
    .execute();
}

/** The requests for one subject, made or waiting, in their order. */
export function resendsOf(db: Db, { kind, id }: ResendSubject): Promise<ResendRequest[]> {
  return db.selectFrom('resend_requests').selectAll().where(columnOf(kind), '=', id).orderBy('id').execute();
}
