import { sql } from 'kysely';
import { cameToNothing } from '../core/domain/payout.ts';
import { personAlone } from '../core/domain/transition.ts';
import { isNotPaidAgain, recounted, replacedSums } from '../core/ledger/replaced.ts';
import { stateSums } from '../core/ledger/state-sums.ts';
import { literals } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { lastPeriod } from './periods.sql.ts';

export type UnpaidState = (typeof cameToNothing)[number];
/** Payouts of a batch in one state and currency, and their minor units. `since`: ISO UTC. */
type UnpaidSum = {
  batch: string;
  state: UnpaidState;
  currency: string;
  n: bigint;
  amount: bigint;
  since: string;
};

/** When `p` came to nothing: a look that only agrees changes the payout, and is no news. */
const endedAt = sql`(select max(h.at) from history h
  where h.payout_id = p.id and h.to_state = p.state and coalesce(h.from_state, '') <> h.to_state)`;

/** `before`: only of batches that were taken in before it, ISO UTC: what the close of a month that ends then would end. */
type Before = { before?: string };

/**
 * Payouts that failed, were refused or came back, and are not paid again. A person who closes a month has read what failed
 * in it: of a batch from before the last close, only what came to nothing later counts. An archived one is never paid again.
 */
export async function unpaidSums(db: Db | Trx, { before }: Before = {}): Promise<UnpaidSum[]> {
  const last = await lastPeriod(db);
  const known = last ?? { ends_at: '', closed_at: '' };
  const born = await sql<{ id: string; since: string }>`select id, created_at as since from batches
    where archive_id is null and created_at >= ${known.ends_at}
      ${before === undefined ? sql`` : sql`and created_at < ${before}`}`.execute(db);
  const bornAt = new Map(born.rows.map(({ id, since }) => [id, since]));
  const fresh = recounted(await stateSums(db), await replacedSums(db)).flatMap(
    ({ batch_id: batch, state, ...sums }): UnpaidSum[] => {
      const since = bornAt.get(batch);
      const ended = cameToNothing.find((one) => one === state);
      return since !== undefined && ended ? [{ batch, since, ...sums, state: ended }] : [];
    },
  );
  if (!last) return fresh;
  const late =
    await sql<UnpaidSum>`select batch, state, currency, count(*) as n, cast(sum(amount) as bigint) as amount,
      min(since) as since
    from (select p.batch_id as batch, p.state, p.currency, p.amount, ${endedAt} as since
      from payouts p join batches b on b.id = p.batch_id
      where p.state in (${literals(cameToNothing)}) and p.updated_at > ${known.closed_at}
        and b.archive_id is null and b.created_at < ${known.ends_at} and ${isNotPaidAgain}) changed
    where since > ${known.closed_at}
    group by batch, state, currency order by batch, currency, state`.execute(db);
  return [...fresh, ...late.rows.map((row) => ({ ...row, n: BigInt(row.n), amount: BigInt(row.amount) }))];
}

/**
 * Batches of which a new file alone pays what is unpaid: only a person has said that it was not paid (P32). `batch`: of
 * this one.
 */
export async function batchesForNewFile(db: Db | Trx, batch?: string): Promise<Set<string>> {
  const isAlone = sql`p.evidence in (${literals(personAlone)})`;
  const { rows } = await sql<{ id: string }>`select b.id from batches b
    where b.id in (select p.batch_id from payouts p where p.state = 'failed' and ${isAlone}
        ${batch === undefined ? sql`` : sql`and p.batch_id = ${batch}`})
      and not exists (select 1 from payouts p where p.batch_id = b.id and p.state in (${literals(cameToNothing)})
        and not ${isAlone} and ${isNotPaidAgain})`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

type UnpaidRow = Pick<
  Payout,
  'reference' | 'batch_id' | 'account_name' | 'amount' | 'currency' | 'state' | 'message'
>;

/** Those payouts, the newest first, at most `limit`. */
export async function unpaidRows(
  db: Db | Trx,
  { before, limit }: Required<Before> & { limit: number },
): Promise<UnpaidRow[]> {
  const last = await lastPeriod(db);
  const { rows } = await sql<UnpaidRow>`
    select p.reference, p.batch_id, p.account_name, p.amount, p.currency, p.state, p.message
    from payouts p join batches b on b.id = p.batch_id
    where p.state in (${literals(cameToNothing)}) and b.archive_id is null and ${isNotPaidAgain}
      and b.created_at < ${before}
      ${last ? sql`and (b.created_at >= ${last.ends_at} or (p.updated_at > ${last.closed_at} and ${endedAt} > ${last.closed_at}))` : sql``}
    order by p.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Of batches that were taken in between two instants, ISO UTC: what is unpaid now, whatever a close has read. */
export async function unpaidRowsWithin(
  db: Db | Trx,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<UnpaidRow[]> {
  const { rows } = await sql<UnpaidRow>`
    select p.reference, p.batch_id, p.account_name, p.amount, p.currency, p.state, p.message
    from payouts p join batches b on b.id = p.batch_id
    where p.state in (${literals(cameToNothing)}) and ${isNotPaidAgain}
      and b.created_at >= ${from} and b.created_at < ${to}
    order by p.id desc limit ${limit}`.execute(db);
  return rows;
}

export type UnpaidTotal = { state: UnpaidState; currency: string; count: bigint; minor: bigint };

/** The same of all batches together, by state and currency. */
export async function unpaidTotals(db: Db | Trx, of: Before = {}): Promise<UnpaidTotal[]> {
  const all = await unpaidSums(db, of);
  return cameToNothing.flatMap((state) => {
    const own = all.filter((sum) => sum.state === state);
    return [...Map.groupBy(own, ({ currency }) => currency)].map(([currency, sums]) => {
      const [count, minor] = sums.reduce(([n, total], sum) => [n + sum.n, total + sum.amount], [0n, 0n]);
      return { state, currency, count, minor };
    });
  });
}
