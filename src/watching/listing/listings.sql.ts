import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ListStanding } from '../../core/domain/verdict.ts';
import { newestHistory } from '../../core/ledger/history.ts';
import { newestWebhook } from '../../core/ledger/known.ts';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';
import { prepared } from '../../core/storage/prepared.ts';
import type { ListGap } from './completeness.ts';

/** How many rows one DELETE names: well under SQLite's limit of variables. */
const rowsPerDelete = 250;
/** How many rows a sentence names. */
const shownRows = 3;

/**
 * Inserts the run's row and returns its id: `YYYYMMDDTHHMMSSZ`, then `-2`, `-3` within the same second. `originId`: the
 * account whose list it reads (P31).
 */
export async function beginRun(trx: Trx, at: string, originId = 0n): Promise<string> {
  const base = `${at.slice(0, 19).replace(/[-:]/g, '')}Z`;
  const taken = await trx.selectFrom('runs').select('id').where('id', 'like', `${base}%`).execute();
  const ids = new Set(taken.map((row) => row.id));
  let id = base;
  for (let n = 2; ids.has(id); n++) id = `${base}-${n}`;
  await trx
    .insertInto('runs')
    .values({
      id,
      started_at: at,
      finished_at: null,
      summary: null,
      history_mark: await newestHistory(trx),
      webhook_mark: await newestWebhook(trx),
      origin_id: originId,
    })
    .execute();
  return id;
}

/**
 * True when the run's listing shows a payout of ours. A transfer id alone is no proof: another account's transfers may
 * have the same numbers.
 */
export async function showsOurs(db: Db, run: string, foreign: readonly bigint[] = []): Promise<boolean> {
  const row = await db
    .selectFrom('listed as l')
    .innerJoin('payouts as p', 'p.id', 'l.payout_id')
    .select('l.transfer_id')
    .where('l.run_id', '=', run)
    .where((eb) =>
      eb.or([
        eb('l.reference_key', '=', eb.ref('p.reference_key')),
        eb.and([
          eb('l.amount', '=', eb.ref('p.amount')),
          eb('l.currency', '=', eb.ref('p.currency')),
          eb('l.account_number', '=', eb.ref('p.account_number')),
        ]),
      ]),
    )
    // P31: a payout sent only to another account is not shown here, whatever bears its reference.
    .$if(foreign.length > 0, (rows) =>
      rows.where(
        sql<boolean>`(p.unseen_sends > 0 or not exists (select 1 from attempts a where a.payout_id = p.id)
          or exists (select 1 from attempts a where a.payout_id = p.id and a.origin_id not in ${idList(foreign)}))`,
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Ends the run: all that its listing means is recorded. `standing`: what the listing is worth. */
export async function finishRun(trx: Trx, run: string, at: string, standing: ListStanding): Promise<void> {
  const end = { finished_at: at, list_standing: standing };
  await trx.updateTable('runs').set(end).where('id', '=', run).execute();
}

/** Drops the staged rows for which `gone` is true: the agreeing passes no longer show them. Returns their number. */
export async function dropStaged(
  ledger: Ledger,
  run: string,
  gone: (row: { transfer_id: string; created_at: string }) => boolean,
): Promise<number> {
  let dropped = 0;
  for (let after = ''; ; ) {
    const rows = await ledger.db
      .selectFrom('listed')
      .select(['transfer_id', 'created_at'])
      .where('run_id', '=', run)
      .where('transfer_id', '>', after)
      .orderBy('transfer_id')
      .limit(10_000)
      .execute();
    const last = rows.at(-1);
    if (!last) return dropped;
    after = last.transfer_id;
    const ids = rows.filter(gone).map((row) => row.transfer_id);
    for (let from = 0; from < ids.length; from += rowsPerDelete) {
      const some = ids.slice(from, from + rowsPerDelete);
      await ledger.write((trx) =>
        trx
          .deleteFrom('listed')
          .where('run_id', '=', run)
          .where('transfer_id', 'in', textsOf(some))
          .execute(),
      );
    }
    dropped += ids.length;
  }
}

/** Rows per read, so that webhooks get a turn. */
const rowsPerRead = 5_000;

/** The transfer ids of a run above `after`, and up to `upTo` if it is set. */
export type TransferRange = { after: string; upTo: string | null };

/** All transfers of a run in ranges of some thousand, for questions that must examine each of them. */
export async function* transferRanges(db: Db, run: string): AsyncGenerator<TransferRange> {
  for (let after = ''; ; ) {
    const last = await db
      .selectFrom('listed')
      .select('transfer_id')
      .where('run_id', '=', run)
      .where('transfer_id', '>', after)
      .orderBy('transfer_id')
      .offset(rowsPerRead - 1)
      .limit(1)
      .executeTakeFirst();
    yield { after, upTo: last?.transfer_id ?? null };
    if (!last) return;
    after = last.transfer_id;
    await setImmediate();
  }
}

/** Summarises the staged rows of a run. */
export async function describeListing(
  { db, mode }: Pick<Ledger, 'db' | 'mode'>,
  run: string,
): Promise<{ oldestCreatedAt: string | null; otherDomainSeen: boolean }> {
  let oldest: string | null = null;
  let other = 0n;
  for (let after = ''; ; ) {
    const rows = db
      .selectFrom('listed')
      .select(['transfer_id', 'created_at', 'domain'])
      .where('run_id', '=', run)
      .where('transfer_id', '>', after)
      .orderBy('transfer_id')
      .limit(rowsPerRead)
      .as('some');
    const page = await db
      .selectFrom(rows)
      .select([
        sql<string | null>`min(nullif(created_at, ''))`.as('oldest'),
        sql<bigint | null>`max(case when domain <> ${mode} then 1 else 0 end)`.as('other'),
        sql<string | null>`max(transfer_id)`.as('last'),
      ])
      .executeTakeFirstOrThrow();
    if (page.last === null) return { oldestCreatedAt: oldest, otherDomainSeen: other === 1n };
    if (page.oldest !== null && (oldest === null || page.oldest < oldest)) oldest = page.oldest;
    if (page.other === 1n) other = 1n;
    after = page.last;
    await setImmediate();
  }
}

/** The staged rows of a run that were created after this instant (ISO UTC): how many, and the latest of them. */
export async function rowsAfter(db: Db, run: string, cut: string): Promise<ListGap['ahead']> {
  const rows = db.selectFrom('listed').where('run_id', '=', run).where('created_at', '>', cut);
  const { n } = await rows.select((eb) => eb.fn.countAll<bigint>().as('n')).executeTakeFirstOrThrow();
  const first = await rows
    .select(['transfer_id as transferId', 'reference', 'created_at as createdAt'])
    .orderBy('created_at', 'desc')
    .orderBy('transfer_id')
    .limit(shownRows)
    .execute();
  return { count: Number(n), first };
}

/** Payouts that may have been sent and that no staged row of a run shows: how many, and the first references. */
export async function notAmongListed(db: Db, run: string): Promise<{ count: number; first: string[] }> {
  const rows = db
    .selectFrom('payouts as p')
    .where('p.state', 'in', ['pending', 'success', 'failed', 'returned', 'unknown'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('listed as l')
            .select('l.transfer_id')
            .where('l.run_id', '=', run)
            .whereRef('l.payout_id', '=', 'p.id'),
        ),
      ),
    );
  const { n } = await rows.select((eb) => eb.fn.countAll<bigint>().as('n')).executeTakeFirstOrThrow();
  const first = await rows.select('p.reference').orderBy('p.id').limit(shownRows).execute();
  return { count: Number(n), first: first.map(({ reference }) => reference) };
}

/**
 * The order in which runs began, the latest first. `started_at` would not do: after a clock that was once ahead, old
 * runs would stay the newest.
 */
export const latestRunFirst = sql`runs.rowid desc`;

export type CompleteRun = { id: string; startedAt: string; finishedAt: string };

/**
 * The newest run whose listing was proven complete; a short cut does not count (P29). `foreign`: the origins of other
 * accounts, whose lists prove nothing about the account in question (P31). `originId`: only lists that were read there.
 */
export async function newestCompleteRun(
  db: Db | Trx,
  foreign: readonly bigint[],
  originId?: bigint,
): Promise<CompleteRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .select(['id', 'started_at', 'finished_at'])
    .where('finished_at', 'is not', null)
    // Not `not_ours`: that list is complete, but of another account.
    .where('list_standing', 'in', ['complete', 'shows_none'])
    .$if(foreign.length > 0, (runs) => runs.where('origin_id', 'not in', idList(foreign)))
    .$if(originId !== undefined, (runs) => runs.where('origin_id', '=', originId ?? 0n))
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  return row?.finished_at
    ? { id: row.id, startedAt: row.started_at, finishedAt: row.finished_at }
    : undefined;
}

const withRowsAfter = prepared<{ id: string }>(
  (_, slot) => sql`select r.id from runs r
    where r.rowid > coalesce((select c.rowid from runs c where c.id = ${slot(0)}), -1)
      and exists (select 1 from listed where listed.run_id = r.id)
    order by r.rowid desc`,
);

/**
 * The runs whose rows no complete list has replaced, the latest first: what they showed stays known, however many runs
 * read nothing since (P15). `complete`: the newest complete run; without one, every run that still holds rows.
 */
export async function unreplacedRuns(db: Db | Trx, complete: string | undefined): Promise<string[]> {
  return (await withRowsAfter(db, [complete ?? ''])).map(({ id }) => id);
}

/** When the last run began, finished or not; ISO UTC. */
export async function lastRunBegan(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('runs')
    .select('started_at')
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.started_at;
}
