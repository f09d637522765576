import { z } from 'zod';
import type { ListStanding, Verdict } from '../core/domain/verdict.ts';
import { idList, textsOf } from '../core/storage/bulk.ts';
import { inParts } from '../core/storage/keyset.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Run } from '../core/storage/tables/tables.ts';
import { latestRunFirst } from '../watching/listing/listings.sql.ts';

/** When a run ended, ISO UTC; null before its figures are frozen, and where it was cut off before that. */
export function runEnd({ verdict, finished_at }: Pick<Run, 'verdict' | 'finished_at'>): string | null {
  return verdict === null ? null : finished_at;
}

/** Rows that one INSERT names: well under SQLite's limit of variables. */
const rowsPerInsert = 200;

/** The verdict on a currency of a run; `overturned`: how many payouts are paid here and failed on the list. */
export type RunVerdict = { currency: string; verdict: Verdict; overturned: bigint };

/** Stores the verdicts of a run in place of any it had; `whole` is the worst of them. */
export async function setVerdicts(
  trx: Trx,
  run: string,
  { whole, currencies }: { whole: Verdict; currencies: readonly RunVerdict[] },
): Promise<void> {
  await trx.updateTable('runs').set({ verdict: whole }).where('id', '=', run).execute();
  await trx.deleteFrom('run_verdicts').where('run_id', '=', run).execute();
  for (const some of inParts(currencies, rowsPerInsert))
    await trx
      .insertInto('run_verdicts')
      .values(some.map((one) => ({ run_id: run, ...one })))
      .execute();
}

/** The verdicts of these runs, by run, each in the order of its currencies. */
export async function verdictsOf(db: Db, runs: readonly string[]): Promise<Map<string, RunVerdict[]>> {
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('run_verdicts')
    .selectAll()
    .where('run_id', 'in', textsOf(runs))
    .orderBy('run_id')
    .orderBy('currency')
    .execute();
  return Map.groupBy(rows, (row) => row.run_id);
}

export type LastRun = {
  run: string;
  startedAt: string;
  list: ListStanding | null;
  verdict: Verdict;
  currencies: RunVerdict[];
};

/** The last run with a verdict that read no list of these origins (P31), or undefined. */
export async function lastRun(db: Db, foreign: readonly bigint[]): Promise<LastRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .select(['id', 'started_at', 'list_standing', 'verdict'])
    .where('verdict', 'is not', null)
    .$if(foreign.length > 0, (runs) => runs.where('origin_id', 'not in', idList(foreign)))
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  if (!row?.verdict) return undefined;
  const currencies = (await verdictsOf(db, [row.id])).get(row.id) ?? [];
  const { id: run, started_at: startedAt, list_standing: list, verdict } = row;
  return { run, startedAt, list, verdict, currencies };
}

const figure = z.number();
const summaryShape = z.object({
  webhooks: z.object({ due: figure, heard: figure, late: figure, forged: figure, resent: figure }),
});

/** How webhooks had arrived when a run ended, from its summary; null where that does not say it. */
export async function webhooksAtRun(
  db: Db,
  run: string,
): Promise<z.infer<typeof summaryShape>['webhooks'] | null> {
  const row = await db.selectFrom('runs').select('summary').where('id', '=', run).executeTakeFirst();
  const read = summaryShape.safeParse(JSON.parse(row?.summary ?? 'null'));
  return read.success ? read.data.webhooks : null;
}
