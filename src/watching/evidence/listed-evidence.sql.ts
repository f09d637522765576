import { sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import { cameToNothing } from '../../core/domain/payout.ts';
import { successorReference } from '../../core/domain/successor-name.ts';
import { chainsOf } from '../../core/ledger/successors.ts';
import { idList, idsIn, textsIn } from '../../core/storage/bulk.ts';
import { literals } from '../../core/storage/dialect.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';
import type { CompleteRun } from '../listing/listings.sql.ts';

/**
 * What the newest complete listing shows under the payout: the statuses of the transfers paired with it, and their ids.
 * `webhookMark`: the newest webhook when its reading began.
 */
export type LastListing = {
  run: string;
  startedAt: string;
  finishedAt: string;
  webhookMark: bigint;
  statuses: string[];
  transfers: string[];
};
/** A transfer of the payout that a later run showed, whether its listing was complete or not. */
export type ListedSince = {
  run: string;
  startedAt: string;
  finishedAt: string | null;
  transfer: string;
  status: string;
};

export type RunWithRows = Omit<CompleteRun, 'finishedAt'> & { finishedAt: string | null };

/**
 * The runs after the newest complete one that still hold rows, in their order; all runs with rows where there is none.
 */
export async function runsSince(db: Db | Trx, run: CompleteRun | undefined): Promise<RunWithRows[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'started_at', 'finished_at'])
    .$if(run !== undefined, (query) =>
      query.where(sql<boolean>`runs.rowid > (select c.rowid from runs c where c.id = ${run?.id ?? ''})`),
    )
    .where(sql<boolean>`exists (select 1 from listed where listed.run_id = runs.id)`)
    .orderBy(sql`runs.rowid`)
    .execute();
  return rows.map(({ id, started_at, finished_at }) => ({
    id,
    startedAt: started_at,
    finishedAt: finished_at,
  }));
}

/** A run's rows by an index on the column; without the inner query SQLite would read the whole run. */
function rowsWith(db: Db | Trx, run: string, column: 'payout_id' | 'stray_key', values: string) {
  const text = sql`${values}`;
  const wantedIn = column === 'payout_id' ? idsIn(text) : textsIn(text);
  const wanted = sql<string>`(select transfer_id from listed where run_id = ${run} and ${sql.ref(column)} in
    ${wantedIn})`;
  return db
    .selectFrom('listed')
    .select(['payout_id', 'reference', 'reference_key', 'transfer_id', 'status'])
    .where('run_id', '=', run)
    .where('transfer_id', 'in', wanted);
}

/** The transfers that a run showed of these payouts; a run that died may have left some unpaired. */
async function shownBy(db: Db | Trx, run: string, payouts: readonly Payout[]) {
  const paired = await rowsWith(db, run, 'payout_id', idsText(payouts)).execute();
  const idOf = new Map(payouts.map(({ id, reference_key }) => [reference_key, id]));
  const unpaired = await rowsWith(db, run, 'stray_key', JSON.stringify([...idOf.keys()]))
    .where('payout_id', 'is', null)
    .execute();
  const named = unpaired.map((row) => ({ ...row, payout_id: idOf.get(row.reference_key) ?? null }));
  return [...paired, ...named].toSorted((a, b) => (a.transfer_id < b.transfer_id ? -1 : 1));
}

function idsText(payouts: readonly Payout[]): string {
  return `[${payouts.map(({ id }) => id).join(',')}]`;
}

/**
 * What these runs showed of each payout: the newest status of each transfer. The payouts are in the order of their ids.
 */
export async function listedSince(
  db: Db | Trx,
  runs: readonly RunWithRows[],
  payouts: readonly Payout[],
): Promise<Map<bigint, ListedSince[]>> {
  const words = new Map<bigint, Map<string, ListedSince>>();
  for (const { id: run, startedAt, finishedAt } of payouts.length === 0 ? [] : runs) {
    for (const { payout_id, transfer_id, status } of await shownBy(db, run, payouts)) {
      if (payout_id === null) continue;
      const own = words.get(payout_id) ?? new Map<string, ListedSince>();
      words.set(
        payout_id,
        own.set(transfer_id, { run, startedAt, finishedAt, transfer: transfer_id, status }),
      );
    }
  }
  return new Map([...words].map(([id, own]) => [id, [...own.values()]]));
}

export async function lastListings(
  db: Db | Trx,
  complete: CompleteRun | undefined,
  payouts: readonly Payout[],
): Promise<Map<bigint, LastListing>> {
  if (!complete) return new Map();
  const { id: run, startedAt, finishedAt } = complete;
  const began = db.selectFrom('runs').select('webhook_mark').where('id', '=', run);
  const { webhook_mark: webhookMark } = await began.executeTakeFirstOrThrow();
  const rows = await rowsWith(db, run, 'payout_id', idsText(payouts)).orderBy('transfer_id').execute();
  const byPayout = Map.groupBy(rows, (row) => row.payout_id);
  return new Map(
    payouts.map(({ id }) => {
      const own = byPayout.get(id) ?? [];
      const statuses = own.map((row) => row.status);
      const transfers = own.map((row) => row.transfer_id);
      return [id, { run, startedAt, finishedAt, webhookMark, statuses, transfers }];
    }),
  );
}

/**
 * Transfers of no payout that may be another payment of one of these; at most 5 each, without failed ones. The complete
 * listing counts by account and amount. A lost copy of the ledger may have paid those in `lost` again (P25): for them
 * later runs count too. So does a name that a successor would get, whatever its account: a file may correct the account.
 */
export async function lookAlikes(
  db: Db | Trx,
  { complete, later }: { complete: CompleteRun | undefined; later: readonly RunWithRows[] },
  payouts: readonly Payout[],
  { ids: lostIds, prefix }: { ids: ReadonlySet<bigint>; prefix: string },
): Promise<Map<bigint, string[]>> {
  const lost = payouts.filter(({ id }) => lostIds.has(id));
  // Until a run ends, what it learns may still pair its rows with payouts of ours.
  const ended = later.flatMap(({ id, finishedAt }) => (finishedAt === null ? [] : [id]));
  const found = complete ? await sameMoney(db, complete.id, payouts) : [];
  for (const run of lost.length === 0 ? [] : ended) found.push(...(await sameMoney(db, run, lost)));
  const names = await namesOf(db, lost, prefix);
  for (const run of [...(complete ? [complete.id] : []), ...ended])
    found.push(...(await namedSo(db, run, names)));
  const byPayout = Map.groupBy(found, (row) => row.id);
  return new Map(
    [...byPayout].map(([id, own]) => {
      const references = new Set(own.map(({ reference }) => reference));
      return [id, [...references].toSorted().slice(0, 5)];
    }),
  );
}

/** A transfer without a reference is named by its id. */
const nameOf = sql<string>`coalesce(nullif(l.reference, ''), 'transfer ' || l.transfer_id)`;

/** Cross joins fix the order: each of the run's unpaired rows finds its payouts by an index. */
async function sameMoney(
  db: Db | Trx,
  run: string,
  payouts: readonly Payout[],
): Promise<{ id: bigint; reference: string }[]> {
  const [first] = payouts;
  if (!first) return [];
  const unpaired = sql`(select transfer_id from listed where run_id = ${run} and payout_id is null)`;
  const { rows } = await sql<{ id: bigint; reference: string }>`
    select p.id, ${nameOf} as reference from ${unpaired} as u cross join listed l cross join payouts p
    where l.run_id = ${run} and l.transfer_id = u.transfer_id and l.status <> 'failed' and p.account_number = l.account_number and p.amount = l.amount and p.currency = l.currency
      and +p.id in ${idList(payouts.map(({ id }) => id))}
      and p.state in ('unknown', ${literals(cameToNothing)})`.execute(db);
  return rows;
}

async function namesOf(
  db: Db | Trx,
  lost: readonly Payout[],
  prefix: string,
): Promise<Map<string, bigint[]>> {
  const idsOf = new Map<string, bigint[]>();
  for (const [id, { root, length }] of await chainsOf(db, lost)) {
    // The prefix may be newer than what was lost.
    for (const key of new Set([...namesAfter(root, length, prefix), ...namesAfter(root, length, '')]))
      idsOf.set(key, [...(idsOf.get(key) ?? []), id]);
  }
  return idsOf;
}

async function namedSo(
  db: Db | Trx,
  run: string,
  names: ReadonlyMap<string, bigint[]>,
): Promise<{ id: bigint; reference: string }[]> {
  if (names.size === 0) return [];
  const rows = await rowsWith(db, run, 'stray_key', JSON.stringify([...names.keys()]))
    .where('payout_id', 'is', null)
    .where('status', '<>', 'failed')
    .execute();
  return rows.flatMap(({ reference, reference_key: key }) =>
    (names.get(key) ?? []).map((id) => ({ id, reference })),
  );
}

/**
 * How many further payments are looked for, and how many names of each: the plain one, or one of the next when taken.
 */
const payments = 4;
const namesEach = 3;

/** The names, folded, that the next successors of a chain would get. */
function namesAfter(root: string, length: number, prefix: string): string[] {
  const names = new Set<string>();
  for (let number = length + 1; number <= length + payments; number++) {
    const taken = new Set<string>();
    for (let i = 0; i < namesEach; i++)
      taken.add(foldReference(successorReference({ root, number }, prefix, (key) => taken.has(key))));
    for (const name of taken) names.add(name);
  }
  return [...names];
}
