import { sql } from 'kysely';
import { bareAccount } from '../../core/domain/bare-account.ts';
import { settleEvents } from '../../core/domain/history-event.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { areHolding, readReasons, wasCancelled } from '../../core/ledger/hold-reasons.ts';
import { foreignOrigins, sentElsewhere } from '../../core/ledger/origins.ts';
import { idList } from '../../core/storage/bulk.ts';
import { countRows } from '../../core/storage/counting.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import type { LookUpOutcome } from '../../core/storage/tables/said-columns.ts';
import type { Attempt, Inquiry, Payout } from '../../core/storage/tables/tables.ts';
import { unmatchedLike } from '../webhooks/unmatched-webhooks.sql.ts';
import type { AbsenceFacts, ListedFacts, NotFound } from './absence.ts';
import { keptName, namedBefore } from './doubts.sql.ts';

/** What a run's listing is worth as a whole; what it shows of each payout is gathered here. */
export type RunListing = Omit<ListedFacts, 'rows' | 'lookAlikes' | 'sameAccount'>;
/** `held`: its batch is on hold, so a resend would wait. `cancelled`: its batch was: only a person resends it. */
export type AbsenceCase = { payoutId: bigint; held: boolean; cancelled: boolean; facts: AbsenceFacts };

type Gathered = {
  payout: Payout;
  attempts: Attempt[];
  inquiries: Inquiry[];
  decisions: number;
  webhooks: number;
  rows: number;
  lookAlikes: number;
  sameAccount: boolean;
  /** The origins of other accounts, whose answers prove nothing (P31). */
  foreign: readonly bigint[];
};

/** A webhook may bear a time this long before our attempt: clocks differ (P15). */
const clockSkewMs = 5 * 60_000;
/** A listed transfer may bear a time this long before our attempt: a time without a zone may be of any zone (P33). */
const zoneSkewMs = 24 * 3_600_000;

/** Reads the facts about these payouts in the transaction that acts on them; at most some hundreds in one call. */
export async function absenceCases(
  trx: Trx,
  payoutIds: readonly bigint[],
  about: { run: string; listing: RunListing; quietPeriodMs: number; account: ServiceAccount | null },
): Promise<AbsenceCase[]> {
  const cases: AbsenceCase[] = [];
  const payouts = await trx
    .selectFrom('payouts')
    .selectAll()
    .where('id', 'in', idList(payoutIds))
    .where('archived_seq', 'is', null)
    .execute();
  const unmatched = await unmatchedSince(trx, payouts);
  const foreign = await foreignOrigins(trx, about.account);
  const elsewhere = about.account ? await sentElsewhere(trx, payoutIds, about.account) : new Map();
  for (const payout of payouts) {
    const batch = await trx
      .selectFrom('batches')
      .select(['phase', 'hold_reasons'])
      .where('id', '=', payout.batch_id)
      .executeTakeFirst();
    if (batch?.phase !== 'loaded') continue;
    const gathered = await gather(trx, payout, about.run);
    gathered.foreign = foreign;
    gathered.sameAccount = about.account !== null && !elsewhere.has(payout.id);
    gathered.webhooks += unmatched.get(payout.id) ?? 0;
    const facts = factsOf(gathered, about.listing, about.quietPeriodMs);
    const { hold_reasons } = batch;
    const cancelled = wasCancelled(hold_reasons);
    cases.push({
      payoutId: payout.id,
      held: areHolding(readReasons(hold_reasons), payout),
      cancelled,
      facts,
    });
  }
  return cases;
}

/** Counts webhooks that may be about these payouts under other names, since the first of them was sent. */
async function unmatchedSince(trx: Trx, payouts: readonly Payout[]): Promise<Map<bigint, number>> {
  const [first] = payouts;
  const sent = payouts.flatMap(({ submitted_at }) => submitted_at ?? []).toSorted();
  if (!first || sent[0] === undefined) return new Map();
  const from = new Date(Date.parse(sent[0]) - clockSkewMs).toISOString();
  return unmatchedLike(trx, from, payouts);
}

async function gather(trx: Trx, payout: Payout, run: string): Promise<Gathered> {
  const attempts = await trx
    .selectFrom('attempts')
    .selectAll()
    .where('payout_id', '=', payout.id)
    .orderBy('number')
    .execute();
  const inquiries = await trx
    .selectFrom('inquiries')
    .selectAll()
    .where('payout_id', '=', payout.id)
    .where('kind', '=', 'details')
    .where('asked_at', 'is not', null)
    .orderBy('id')
    .execute();
  const decisions = trx
    .selectFrom('history')
    .where('payout_id', '=', payout.id)
    .where('event', 'in', ['retry', 'adopted', ...Object.values(settleEvents)]);
  const [rows, lookAlikes] = await shown(trx, payout, run, attempts[0]?.began_at ?? '');
  return {
    payout,
    attempts,
    inquiries,
    decisions: await countRows(decisions),
    webhooks: await heardOf(trx, payout),
    rows,
    lookAlikes,
    sameAccount: false,
    foreign: [],
  };
}

/**
 * Counts the webhooks that name it, by its reference as the service may write it. Each part uses an index of its own:
 * with all in one condition the database reads the whole table.
 */
async function heardOf(trx: Trx, { id, reference, reference_key }: Payout): Promise<number> {
  const { rows } = await sql<{ n: bigint }>`select count(*) as n from (
    select id from webhooks where payout_id = ${id}
    union select id from webhooks where coalesce(reference, '') in (${reference}, ${reference_key}, ${reference_key.toUpperCase()})
    union select w.id from payouts p join webhooks w on ${namedBefore} where p.id = ${id}
    union select w.id from payouts p join unmatched_references w on ${keptName} where p.id = ${id}
    ) heard`.execute(trx);
  return Number(rows[0]?.n ?? 0n);
}

/** Counts the listing's rows of this payout, and rows of no payout that might be this one under another name. */
async function shown(
  trx: Trx,
  payout: Payout,
  run: string,
  beganAt: string,
): Promise<[rows: number, lookAlikes: number]> {
  const since = beganAt === '' ? '' : new Date(Date.parse(beganAt) - zoneSkewMs).toISOString();
  const row = await trx
    .selectFrom('listed')
    .select((eb) => [
      eb.fn.sum<bigint | null>(sql`case when payout_id = ${payout.id} then 1 else 0 end`).as('rows'),
      eb.fn
        .sum<bigint | null>(
          sql`case when payout_id is null
            and account_number in ('', ${payout.account_number}, ${bareAccount(payout.account_number)})
            and coalesce(amount, ${payout.amount}) = ${payout.amount}
            and (created_at >= ${since} or created_at = '') then 1 else 0 end`,
        )
        .as('look_alikes'),
    ])
    .where('run_id', '=', run)
    .where((eb) => eb.or([eb('payout_id', '=', payout.id), eb('payout_id', 'is', null)]))
    .executeTakeFirst();
  return [Number(row?.rows ?? 0n), Number(row?.look_alikes ?? 0n)];
}

function factsOf(gathered: Gathered, listing: RunListing, quietPeriodMs: number): AbsenceFacts {
  const { payout, attempts, inquiries, decisions, webhooks, rows, lookAlikes, sameAccount, foreign } =
    gathered;
  const last = attempts.at(-1);
  const since = inquiries.filter(({ attempt_id }) => last !== undefined && attempt_id === last.id);
  const silent: LookUpOutcome[] = ['error', 'outdated', 'superseded', 'not_found'];
  return {
    state: payout.state,
    sends: attempts.filter(({ outcome }) => outcome !== 'not_sent').length,
    decisions,
    unseenSends: Number(payout.unseen_sends),
    autoResends: Number(payout.auto_resends),
    attempt:
      last?.outcome === 'unknown' && last.ended_at !== null
        ? { beganAt: last.began_at, endedAt: last.ended_at, code: last.code }
        : null,
    notFound: since
      .filter(({ origin_id }) => !foreign.includes(origin_id))
      .flatMap((inquiry) => notFound(inquiry, last?.id ?? null)),
    otherAnswers: since.filter(({ outcome }) => outcome === null || !silent.includes(outcome)).length,
    webhooks,
    quietPeriodMs,
    listing: { ...listing, rows, lookAlikes, sameAccount },
  };
}

function notFound(inquiry: Inquiry, lastAttempt: bigint | null): NotFound[] {
  const { outcome, asked_at: askedAt, rung_due_at: due, attempt_id: attempt } = inquiry;
  if (outcome !== 'not_found' || askedAt === null || attempt === null || attempt !== lastAttempt) return [];
  const clockOffMs = inquiry.clock_off_ms === null ? null : Number(inquiry.clock_off_ms);
  return [{ askedAt, scheduled: due !== null && askedAt >= due, probed: inquiry.probe !== null, clockOffMs }];
}
