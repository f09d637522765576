import { CompiledQuery, sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import { decimalToMinor } from '../domain/money.ts';
import type { Mode } from '../domain/payout.ts';
import { readInstant } from '../domain/witness.ts';
import { newestHistory } from './history.ts';
import type { Db, Ledger, Trx } from './open.ts';
import type { Listed } from './tables.ts';

/** A transfer as the list shows it, every field text (the service room's ListedTransfer). */
export type StagedTransfer = {
  id: string;
  trx: string | null;
  reference: string;
  currency: string;
  amount: string;
  fee: string | null;
  account_name: string;
  account_number: string;
  bank_code: string;
  domain: string | null;
  status: string;
  created_at: string;
  updated_at: string;
};

/** How many rows one INSERT carries: well under SQLite's limit of variables. */
const rowsPerInsert = 250;

/** Inserts the run's row and returns its id: `YYYYMMDDTHHMMSSZ`, then `-2`, `-3` within the same second. */
export async function beginRun(trx: Trx, mode: Mode, at: string): Promise<string> {
  const base = `${at.slice(0, 19).replace(/[-:]/g, '')}Z`;
  const taken = await trx.selectFrom('runs').select('id').where('id', 'like', `${base}%`).execute();
  const ids = new Set(taken.map((row) => row.id));
  let id = base;
  for (let n = 2; ids.has(id); n++) id = `${base}-${n}`;
  await trx
    .insertInto('runs')
    .values({
      id,
      mode,
      started_at: at,
      finished_at: null,
      summary: null,
      history_mark: await newestHistory(trx),
    })
    .execute();
  return id;
}

/** Closes the run with its summary, which `report` prints again later. */
export async function finishRun(trx: Trx, run: string, at: string, summary: unknown): Promise<void> {
  await trx
    .updateTable('runs')
    .set({ finished_at: at, summary: JSON.stringify(summary) })
    .where('id', '=', run)
    .execute();
}

/**
 * Stages one group of pages. A transfer shown twice, or by an earlier pass, keeps its newest word: a page served before
 * the transfer changed may come after one served since.
 */
export async function stage(trx: Trx, run: string, pass: number, transfers: StagedTransfer[]): Promise<void> {
  const newest = new Map<string, StagedRow>();
  for (const transfer of transfers) {
    const row = toRow(run, pass, transfer);
    const known = newest.get(row.transfer_id);
    if (!known || row.updated_at >= known.updated_at || row.updated_at === '')
      newest.set(row.transfer_id, row);
  }
  const all = [...newest.values()];
  for (let from = 0; from < all.length; from += rowsPerInsert) {
    const rows = all.slice(from, from + rowsPerInsert);
    const values = rows.flatMap((row) => stagedColumns.map((column) => row[column]));
    await trx.executeQuery(CompiledQuery.raw(insertText(rows.length), values));
  }
}

type StagedRow = Omit<Listed, 'pass_before' | 'payout_id'>;

const stagedColumns = [
  'run_id',
  'transfer_id',
  'trx',
  'reference',
  'reference_key',
  'currency',
  'amount',
  'amount_text',
  'fee',
  'account_name',
  'account_number',
  'bank_code',
  'domain',
  'status',
  'created_at',
  'updated_at',
  'pass',
] as const;

/** Written once: building it for each group took as long as the insert. */
const insertTexts = new Map<number, string>();

function insertText(rows: number): string {
  const known = insertTexts.get(rows);
  if (known !== undefined) return known;
  const one = `(${stagedColumns.map(() => '?').join(', ')})`;
  const updates = stagedColumns.slice(2).map((column) => `${column} = excluded.${column}`);
  const text = `insert into listed (${stagedColumns.join(', ')}) values ${Array(rows).fill(one).join(', ')}
    on conflict (run_id, transfer_id) do update set ${updates.join(', ')}
    where excluded.updated_at >= listed.updated_at or excluded.updated_at = ''`;
  insertTexts.set(rows, text);
  return text;
}

/** Drops staged rows that `gone` names: what the agreeing passes no longer show. Returns how many. */
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
    for (let from = 0; from < ids.length; from += rowsPerInsert) {
      const some = ids.slice(from, from + rowsPerInsert);
      await ledger.write((trx) =>
        trx.deleteFrom('listed').where('run_id', '=', run).where('transfer_id', 'in', some).execute(),
      );
    }
    dropped += ids.length;
  }
}

/** What the staged rows of a run say as a whole. */
export async function describeListing(
  db: Db,
  run: string,
  mode: Mode,
): Promise<{ oldestCreatedAt: string | null; otherDomainSeen: boolean }> {
  const row = await db
    .selectFrom('listed')
    .select([
      sql<string | null>`min(nullif(created_at, ''))`.as('oldest'),
      sql<bigint | null>`max(case when domain <> ${mode} then 1 else 0 end)`.as('other'),
    ])
    .where('run_id', '=', run)
    .executeTakeFirst();
  return { oldestCreatedAt: row?.oldest ?? null, otherDomainSeen: row?.other === 1n };
}

/**
 * The order in which runs were begun, the latest first. Not by `started_at`: a clock that was ahead once would make old
 * runs the newest for good.
 */
export const latestRunFirst = sql`runs.rowid desc`;

export type CompleteRun = { id: string; startedAt: string; finishedAt: string };

/** The newest run of the mode whose listing was proven complete; a short cut is none (P29). */
export async function newestCompleteRun(db: Db | Trx, mode: Mode): Promise<CompleteRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .select(['id', 'started_at', 'finished_at'])
    .where('mode', '=', mode)
    .where('finished_at', 'is not', null)
    .where('summary', 'like', '%"complete":true%')
    // One with a trouble is whole, but not of our account.
    .where('summary', 'not like', '%"trouble":%')
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  return row?.finished_at
    ? { id: row.id, startedAt: row.started_at, finishedAt: row.finished_at }
    : undefined;
}

function toRow(run: string, pass: number, row: StagedTransfer): StagedRow {
  return {
    run_id: run,
    transfer_id: row.id,
    trx: row.trx,
    reference: row.reference,
    reference_key: foldReference(row.reference),
    currency: row.currency,
    amount: decimalToMinor(row.amount, row.currency),
    amount_text: row.amount,
    fee: row.fee,
    account_name: row.account_name,
    account_number: row.account_number,
    bank_code: row.bank_code,
    domain: row.domain,
    status: row.status,
    created_at: instantText(row.created_at),
    updated_at: instantText(row.updated_at),
    pass: BigInt(pass),
  };
}

/** A service's time as the ledger keeps it: ISO UTC with milliseconds, empty where it is no instant. */
export function instantText(text: string): string {
  const ms = readInstant(text);
  return ms === null ? '' : new Date(ms).toISOString();
}

/** When the last run of the mode began, finished or not; ISO UTC. */
export async function lastRunBegan(db: Db, mode: Mode): Promise<string | undefined> {
  const row = await db
    .selectFrom('runs')
    .select('started_at')
    .where('mode', '=', mode)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.started_at;
}
