import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Overlap } from '../domain/completeness.ts';
import { foldReference } from '../domain/ids.ts';
import { decimalToMinor } from '../domain/money.ts';
import type { Mode } from '../domain/payout.ts';
import { readInstant } from '../domain/witness.ts';
import type { Db, Ledger, Trx } from './open.ts';
import type { Listed, Tables } from './tables.ts';

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
const rowsPerInsert = 500;

/** Inserts the run's row and returns its id: `YYYYMMDDTHHMMSSZ`, then `-2`, `-3` within the same second. */
export async function beginRun(trx: Trx, mode: Mode, at: string): Promise<string> {
  const base = `${at.slice(0, 19).replace(/[-:]/g, '')}Z`;
  const taken = await trx.selectFrom('runs').select('id').where('id', 'like', `${base}%`).execute();
  const ids = new Set(taken.map((row) => row.id));
  let id = base;
  for (let n = 2; ids.has(id); n++) id = `${base}-${n}`;
  await trx
    .insertInto('runs')
    .values({ id, mode, started_at: at, finished_at: null, summary: null })
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

/** Stages one group of pages; a transfer shown twice, or by an earlier pass, keeps its latest word. */
export async function stage(trx: Trx, run: string, pass: number, transfers: StagedTransfer[]): Promise<void> {
  const rows = [...new Map(transfers.map((transfer) => [transfer.id, transfer])).values()];
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const values = rows.slice(from, from + rowsPerInsert).map((row) => toRow(run, pass, row));
    await trx
      .insertInto('listed')
      .values(values)
      .onConflict((conflict) =>
        conflict.columns(['run_id', 'transfer_id']).doUpdateSet((eb) => ({
          trx: eb.ref('excluded.trx'),
          reference: eb.ref('excluded.reference'),
          reference_key: eb.ref('excluded.reference_key'),
          currency: eb.ref('excluded.currency'),
          amount: eb.ref('excluded.amount'),
          amount_text: eb.ref('excluded.amount_text'),
          fee: eb.ref('excluded.fee'),
          account_name: eb.ref('excluded.account_name'),
          account_number: eb.ref('excluded.account_number'),
          bank_code: eb.ref('excluded.bank_code'),
          domain: eb.ref('excluded.domain'),
          status: eb.ref('excluded.status'),
          created_at: eb.ref('excluded.created_at'),
          updated_at: eb.ref('excluded.updated_at'),
          pass_before: sql<bigint>`case when listed.pass = excluded.pass then listed.pass_before else listed.pass end`,
          pass: eb.ref('excluded.pass'),
        })),
      )
      .execute();
  }
}

/** Distinct ids that this pass showed and that were created no later than the cut. */
export function countBelow(db: Db, run: string, pass: number, cut: string): Promise<number> {
  return countWhere(db, run, (eb) => eb.and([eb('pass', '=', BigInt(pass)), eb('created_at', '<=', cut)]));
}

/** How the pass and the one before it agree below the earlier one's cut. */
export async function overlapBelow(db: Db, run: string, pass: number, cut: string): Promise<Overlap> {
  const both = await countWhere(db, run, (eb) =>
    eb.and([
      eb('pass', '=', BigInt(pass)),
      eb('pass_before', '=', BigInt(pass - 1)),
      eb('created_at', '<=', cut),
    ]),
  );
  return { later: await countBelow(db, run, pass, cut), both };
}

/** What the staged rows of a run say as a whole. */
export async function describeListing(
  db: Db,
  run: string,
  mode: Mode,
): Promise<{ listed: number; oldestCreatedAt: string | null; otherDomainSeen: boolean }> {
  const oldest = await db
    .selectFrom('listed')
    .select((eb) => eb.fn.min('created_at').as('at'))
    .where('run_id', '=', run)
    .where('created_at', '<>', '')
    .executeTakeFirst();
  return {
    listed: await countWhere(db, run, (eb) => eb.lit(true)),
    oldestCreatedAt: oldest?.at ?? null,
    otherDomainSeen: (await countWhere(db, run, (eb) => eb('domain', '<>', mode))) > 0,
  };
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
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  return row?.finished_at
    ? { id: row.id, startedAt: row.started_at, finishedAt: row.finished_at }
    : undefined;
}

/**
 * Drops the staged rows of all but the last `keep` runs of the mode and the newest complete one, which decisions and
 * claims still rest on (P15, P20), some at a time so that other writers get their turn.
 */
export async function pruneListings(ledger: Ledger, mode: Mode, keep: number): Promise<void> {
  const complete = await newestCompleteRun(ledger.db, mode);
  const runs = await ledger.db
    .selectFrom('runs')
    .select('id')
    .where('mode', '=', mode)
    .orderBy(latestRunFirst)
    .offset(keep)
    .limit(100)
    .execute();
  for (const { id } of runs) {
    if (id === complete?.id) continue;
    for (let more = true; more; ) {
      more = await ledger.write(async (trx) => {
        const some = trx.selectFrom('listed').select('transfer_id').where('run_id', '=', id).limit(20_000);
        const gone = await trx
          .deleteFrom('listed')
          .where('run_id', '=', id)
          .where('transfer_id', 'in', some)
          .executeTakeFirst();
        return gone.numDeletedRows > 0n;
      });
    }
  }
}

async function countWhere(
  db: Db,
  run: string,
  where: (eb: ExpressionBuilder<Tables, 'listed'>) => Expression<SqlBool>,
): Promise<number> {
  const row = await db
    .selectFrom('listed')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('run_id', '=', run)
    .where(where)
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

function toRow(run: string, pass: number, row: StagedTransfer): Omit<Listed, 'pass_before'> {
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
    payout_id: null,
  };
}

function instantText(text: string): string {
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
