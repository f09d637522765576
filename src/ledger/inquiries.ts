import { sql } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import { field, rowsOf } from './bulk.ts';
import type { Db, Trx } from './open.ts';

export type Due = { id: bigint; payoutId: bigint; kind: 'details' | 'resend'; rung: bigint; dueAt: string };

/** Questions due by `at`, those that keep a payout from being sent first, then the oldest. */
export async function dueInquiries(
  db: Db,
  request: {
    mode: Mode;
    kind: 'details' | 'resend';
    at: string;
    limit: number;
    payoutIds?: readonly bigint[];
  },
): Promise<Due[]> {
  let query = db
    .selectFrom('inquiries')
    .innerJoin('payouts', 'payouts.id', 'inquiries.payout_id')
    .select(['inquiries.id', 'inquiries.payout_id', 'inquiries.kind', 'inquiries.rung', 'inquiries.due_at'])
    .where('payouts.mode', '=', request.mode)
    .where('inquiries.kind', '=', request.kind)
    .where('inquiries.outcome', 'is', null)
    .where('inquiries.due_at', '<=', request.at)
    .orderBy('payouts.look_up_first', 'desc')
    .orderBy('inquiries.due_at')
    .limit(request.limit);
  if (request.payoutIds) {
    query = query.where(
      'payout_id',
      'in',
      sql<bigint>`(select value from json_each(${`[${request.payoutIds.join(',')}]`}))`,
    );
  }
  const rows = await query.execute();
  return rows.map((row) => ({
    id: row.id,
    payoutId: row.payout_id,
    kind: row.kind,
    rung: row.rung,
    dueAt: row.due_at,
  }));
}

/** Writes down what came of a question. */
export async function closeInquiry(
  trx: Trx,
  id: bigint,
  result: { askedAt: string; answeredAt: string; outcome: string; raw: string | null },
): Promise<void> {
  await trx
    .updateTable('inquiries')
    .set({
      asked_at: result.askedAt,
      answered_at: result.answeredAt,
      outcome: result.outcome,
      raw: result.raw?.slice(0, 4096) ?? null,
    })
    .where('id', '=', id)
    .execute();
}

/** Puts a question on the list; one that is already due stands, brought forward when the new time is earlier. */
export async function addInquiry(
  trx: Trx,
  question: { payoutId: bigint; kind: 'details' | 'resend'; reason: string; dueAt: string; rung: bigint },
): Promise<void> {
  await sql`insert into inquiries (payout_id, kind, reason, due_at, rung)
    values (${question.payoutId}, ${question.kind}, ${question.reason}, ${question.dueAt}, ${question.rung})
    on conflict (payout_id, kind) where outcome is null
      do update set due_at = min(inquiries.due_at, excluded.due_at)`.execute(trx);
}

/** How often a payout's webhook was asked for again: the budget is per reference. */
export async function resendsAsked(db: Db, payoutIds: readonly bigint[]): Promise<Map<bigint, number>> {
  const rows = await db
    .selectFrom('inquiries')
    .select((eb) => ['payout_id', eb.fn.countAll<bigint>().as('n')])
    .where('kind', '=', 'resend')
    .where('outcome', 'is not', null)
    .where('payout_id', 'in', sql<bigint>`(select value from json_each(${`[${payoutIds.join(',')}]`}))`)
    .groupBy('payout_id')
    .execute();
  return new Map(rows.map((row) => [row.payout_id, Number(row.n)]));
}

/** Puts details look-ups on the list; one that is already due is brought forward when the new time is earlier. */
export async function askDetails(trx: Trx, due: Record<string, string | bigint>[]): Promise<void> {
  if (due.length === 0) return;
  await sql`insert into inquiries (payout_id, kind, reason, due_at, rung)
    select ${field('payout_id')}, 'details', ${field('reason')}, ${field('due_at')}, coalesce(${field('rung')}, 0)
    from ${rowsOf(due)} as row where true
    on conflict (payout_id, kind) where outcome is null
      do update set due_at = min(inquiries.due_at, excluded.due_at)`.execute(trx);
}
