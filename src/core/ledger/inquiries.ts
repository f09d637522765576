import { type RawBuilder, sql } from 'kysely';
import type { InquiryReason } from '../domain/inquiry-reason.ts';
import { ladderRanges } from '../domain/ladder.ts';
import { later } from '../domain/wait.ts';
import { field, idList, integerField, rowsOf } from '../storage/bulk.ts';
import { countRows } from '../storage/counting.ts';
import { lesser } from '../storage/dialect.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { LookUpOutcome } from '../storage/tables/said-columns.ts';
import type { Inquiry } from '../storage/tables/tables.ts';
import type { SaidFields } from './contradiction-columns.ts';

/** Longer than the longest rung of the ladder, which is a day. */
const longestWaitMs = 25 * 3_600_000;

export type Due = {
  id: bigint;
  payoutId: bigint;
  /** The payout's outcome is unknown. */
  unknown: boolean;
};

/**
 * True where look-up `i` is due by then. None waits longer than its ladder allows (P19): a later time came from a clock
 * that was ahead.
 */
export function dueBy(at: string): RawBuilder<boolean> {
  return sql`(i.due_at <= ${at} or i.due_at > ${later(at, longestWaitMs)})`;
}

/** Returns the look-ups of these payouts that are due by `at`, claimed or not, the oldest first. */
export async function dueInquiries(
  db: Db,
  { at, payoutIds }: { at: string; payoutIds: readonly bigint[] },
): Promise<Due[]> {
  const rows = await db
    .selectFrom('inquiries as i')
    .innerJoin('payouts', 'payouts.id', 'i.payout_id')
    .select(['i.id', 'i.payout_id', 'payouts.state'])
    .where('i.kind', '=', 'details')
    .where('i.outcome', 'is', null)
    .where(dueBy(at))
    .where('i.payout_id', 'in', idList(payoutIds))
    .orderBy('i.due_at')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    payoutId: row.payout_id,
    unknown: row.state === 'unknown',
  }));
}

/**
 * Corrects look-ups that were scheduled by a clock that was ahead (P33). One that waits longer than its rung
 * allows is due at the end of that rung. One that was brought forward, or that has no rung, is due now.
 */
export async function capInquiries(
  trx: Trx,
  { at, quietPeriodMs }: { at: string; quietPeriodMs: number },
): Promise<void> {
  for (const { from, to, mostMs } of ladderRanges(quietPeriodMs)) {
    const latest = later(at, mostMs);
    await sql`update inquiries set
        due_at = case when due_at <= ${latest} then due_at
          when rung_due_at is null or due_at < rung_due_at then ${at} else ${latest} end,
        rung_due_at = case when rung_due_at > ${latest} then ${latest} else rung_due_at end
      where outcome is null and kind = 'details' and (due_at > ${latest} or rung_due_at > ${latest})
        and rung >= ${BigInt(from)} ${to === null ? sql`` : sql`and rung < ${BigInt(to)}`}`.execute(trx);
  }
}

export function countDueUnknown(db: Db, at: string): Promise<number> {
  const due = db
    .selectFrom('inquiries')
    .innerJoin('payouts', 'payouts.id', 'inquiries.payout_id')
    .where('payouts.state', '=', 'unknown')
    .where('inquiries.kind', '=', 'details')
    .where('inquiries.outcome', 'is', null);
  return countRows(due.where('inquiries.due_at', '<=', at));
}

/** Returns how often an open look-up was requested; undefined once it is answered. */
export async function raisedSoFar(db: Db, id: bigint): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('inquiries')
    .select('raised')
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  return row?.raised;
}

export type InquiryAnswer = {
  askedAt: string;
  answeredAt: string;
  outcome: LookUpOutcome;
  /** What the service said, where it said anything. */
  word?: SaidFields;
  raw: string | null;
  attemptId?: bigint | null;
  clockOffMs?: number | null;
  /** The origin that answered; absent when it was not recorded. */
  originId?: bigint;
  /** The newest webhook when it was asked. */
  webhookMark: bigint;
};

export type ClosedInquiry = Pick<Inquiry, 'raised' | 'rung' | 'rung_due_at' | 'reason'>;

/** Records the answer to a look-up; undefined when it was answered before. */
export async function closeInquiry(
  trx: Trx,
  id: bigint,
  answer: InquiryAnswer,
): Promise<ClosedInquiry | undefined> {
  return trx
    .updateTable('inquiries')
    .set({
      ...columnsOf(answer),
      history_seq: sql`(select history_seq from payouts p where p.id = payout_id)`,
    })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .returning(['raised', 'rung', 'rung_due_at', 'reason'])
    .executeTakeFirst();
}

/** Records an answer to a question that another process's answer has closed meanwhile: the service said both. */
export async function addAnswer(trx: Trx, payoutId: bigint, answer: InquiryAnswer): Promise<bigint> {
  const { id } = await trx
    .insertInto('inquiries')
    .values({
      payout_id: payoutId,
      kind: 'details',
      reason: 'asked',
      due_at: answer.askedAt,
      rung: 0n,
      rung_due_at: null,
      probe: null,
      ...columnsOf(answer),
      history_seq: sql`(select history_seq from payouts where id = ${payoutId})`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

function columnsOf(answer: InquiryAnswer) {
  const { askedAt, answeredAt, outcome, word, raw, attemptId, clockOffMs, originId, webhookMark } = answer;
  return {
    asked_at: askedAt,
    answered_at: answeredAt,
    outcome,
    ...word,
    raw: raw?.slice(0, 4096) ?? null,
    attempt_id: attemptId ?? null,
    clock_off_ms: clockOffMs == null ? null : BigInt(Math.round(clockOffMs)),
    origin_id: originId ?? 0n,
    webhook_mark: webhookMark,
  };
}

/** Marks a look-up as sent: from now on only its own answer closes it, not facts that become known another way. */
export async function markAsked(trx: Trx, id: bigint, askedAt: string): Promise<void> {
  await trx
    .updateTable('inquiries')
    .set({ asked_at: askedAt })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute();
}

/** Records that the same key found `probe`, a payout known to exist, before and after these answers (P16). */
export async function markProbed(trx: Trx, ids: readonly bigint[], probe: string): Promise<void> {
  await trx.updateTable('inquiries').set({ probe }).where('id', 'in', idList(ids)).execute();
}

type Question = {
  payoutId: bigint;
  reason: InquiryReason;
  dueAt: string;
  rung: bigint;
  /** Set for a rung of the ladder (P19), absent for other look-ups. */
  rungDueAt?: string;
};

/** Merges a new look-up into an open one: the earlier time wins, a rung of the ladder replaces the open rung. */
const merge = sql`on conflict (payout_id, kind) where outcome is null do update set
  due_at = ${lesser(sql.ref('inquiries.due_at'), sql.ref('excluded.due_at'))}, raised = inquiries.raised + 1,
  rung = case when excluded.rung_due_at is null then inquiries.rung else excluded.rung end,
  rung_due_at = coalesce(excluded.rung_due_at, inquiries.rung_due_at)`;

export async function addInquiry(trx: Trx, question: Question): Promise<void> {
  const { payoutId, reason, dueAt, rung, rungDueAt = null } = question;
  await sql`insert into inquiries (payout_id, kind, reason, due_at, rung, rung_due_at)
    values (${payoutId}, 'details', ${reason}, ${dueAt}, ${rung}, ${rungDueAt}) ${merge}`.execute(trx);
}

/** A details look-up to schedule; `rung_due_at` is set for a rung of the ladder (P19). */
export type LookUpWanted = { payout_id: bigint; reason: InquiryReason; due_at: string; rung_due_at?: string };

export async function askDetails(trx: Trx, due: LookUpWanted[]): Promise<void> {
  if (due.length === 0) return;
  await sql`insert into inquiries (payout_id, kind, reason, due_at, rung, rung_due_at)
    select ${integerField('payout_id')}, 'details', ${field('reason')},
      ${field('due_at')}, coalesce(${integerField('rung')}, 0), ${field('rung_due_at')}
    from ${rowsOf(due)} as row where true ${merge}`.execute(trx);
}
