import { type RawBuilder, sql } from 'kysely';
import { later } from '../core/domain/wait.ts';
import { newestHistory } from '../core/ledger/history.ts';
import { newestWebhook } from '../core/ledger/known.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { type Finding, mostNames, plainFinding } from './finding.ts';

/** The row of `tallies` with the newest webhook, and the history entry up to which no payout lacks its webhook. */
const tally = 'newest webhook';
/** How many entries of the history one look reads. Look-ups write fewer in a minute. */
const mostEntries = 5000;
/** A stamp further ahead than this came from a clock that was set back since (P33). */
const aheadMs = 60_000;

/** How far the watch is: the newest webhook by id, and the newest history entry that needs no more watching. */
export type SilenceMark = { webhook: bigint; history: bigint };

/** What this watch knows after a look. `mark`: the watch has come further, and this is to be noted. */
export type Silence = { findings: Finding<'receiver_silent'>[]; mark: SilenceMark | null };

/**
 * Looks for payouts that the service has shown as ended since the last webhook, more than the grace ago, and of which no
 * webhook came. It reads ids and no times, so that a step of the clock hides nothing (P33). `at` is ISO UTC.
 */
export async function findSilence(
  db: Db | Trx,
  { at, graceMs }: { at: string; graceMs: number },
): Promise<Silence> {
  const webhook = await newestWebhook(db);
  const row = await db
    .selectFrom('tallies')
    .select(['n', 'seen'])
    .where('name', '=', tally)
    .executeTakeFirst();
  if (row?.n !== webhook) return { findings: [], mark: { webhook, history: await newestHistory(db) } };
  const ended = sql`(select id, payout_id, at from history where id > ${row.seen}
      and event in ('listing says success', 'listing says failed', 'details says success', 'details says failed')
    order by id limit ${sql.lit(mostEntries)})`;
  const isOld = sql`(at <= ${later(at, -graceMs)} or at > ${later(at, aheadMs)})`;
  const names = await unheard(db, { ended, isOld });
  if (names.length > 0) {
    const finding = plainFinding('receiver_silent', '', names.length);
    return { findings: [{ ...finding, names: names.slice(0, mostNames) }], mark: null };
  }
  const span = await sql<{ last: bigint | null; young: bigint | null }>`select max(id) as last,
      min(case when ${isOld} then null else id end) as young from ${ended} e`.execute(db);
  const { last = null, young = null } = span.rows[0] ?? {};
  const history = young === null ? last : young - 1n;
  return { findings: [], mark: history === null || history <= row.seen ? null : { webhook, history } };
}

async function unheard(
  db: Db | Trx,
  { ended, isOld }: { ended: RawBuilder<unknown>; isOld: RawBuilder<unknown> },
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select p.reference as name from ${ended} e
      join payouts p on p.id = e.payout_id
    where ${isOld} and p.state in ('success', 'failed')
      and not exists (select 1 from webhooks w where w.payout_id = p.id)
    group by p.id, p.reference order by p.id`.execute(db);
  return rows.map(({ name }) => name);
}

export async function markSilence(trx: Trx, { webhook, history }: SilenceMark): Promise<void> {
  const mark = { n: webhook, seen: history };
  await trx
    .insertInto('tallies')
    .values({ name: tally, ...mark })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(mark))
    .execute();
}
