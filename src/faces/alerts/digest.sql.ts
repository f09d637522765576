import { sql } from 'kysely';
import { ageBucket, ageBuckets, ageDays } from '../../books/ageing.ts';
import { payoutOverview } from '../../books/overview.sql.ts';
import { verdictsOf } from '../../books/run-verdicts.sql.ts';
import { exponentOf } from '../../core/domain/money.ts';
import { isUsable } from '../../core/domain/verdict.ts';
import type { JobPast } from '../../core/runtime/jobs.sql.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { latestRunFirst } from '../../watching/listing/listings.sql.ts';
import type { Digest } from './message.ts';

/** An older reconciliation is no news to people. */
const newsMs = 24 * 3_600_000;
/** A later sign of life would only delay a monitor's alarm. */
const signMs = 3_600_000;

/** The run of the last scheduled reconciliation, where it ended lately; a person's own is not among them. */
export function scheduledRun(pasts: readonly JobPast[], nowMs: number): string | undefined {
  const ended = pasts.filter(
    ({ job, expression, endedAt }) =>
      (job === 'reconcile' || job === 'reconcile_full') && expression !== null && endedAt !== null,
  );
  const [last] = ended.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? 1 : -1));
  return last?.endedAt && isWithin(newsMs, last.endedAt, nowMs) ? runIn(last.lastResult) : undefined;
}

function isWithin(ms: number, at: string, nowMs: number): boolean {
  return Math.abs(nowMs - Date.parse(at)) <= ms;
}

function runIn(result: string | null): string | undefined {
  const told: unknown = result === null ? null : JSON.parse(result);
  return typeof told === 'object' && told !== null && 'run' in told && typeof told.run === 'string'
    ? told.run
    : undefined;
}

/** The newest reconciliation, where it was complete and ended lately. */
export async function completeRun(db: Db, nowMs: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('runs')
    .select(['id', 'finished_at', 'list_standing'])
    .where('verdict', 'is not', null)
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
  if (!row?.finished_at || !isUsable(row.list_standing)) return undefined;
  return isWithin(signMs, row.finished_at, nowMs) ? row.id : undefined;
}

/** What a run's digest says, as of `at`, ISO UTC; undefined for a run without a verdict. */
export async function findDigest(db: Db, run: string, at: string): Promise<Digest | undefined> {
  const row = await db
    .selectFrom('runs')
    .select(['list_standing', 'verdict'])
    .where('id', '=', run)
    .executeTakeFirst();
  if (!row?.verdict) return undefined;
  const verdicts = (await verdictsOf(db, [run])).get(run) ?? [];
  // A list may show a currency that is none: a stranger's text.
  const known = verdicts.filter(({ currency }) => exponentOf(currency) !== undefined);
  const { payouts, totals } = await payoutOverview(db);
  return {
    run,
    list: row.list_standing,
    verdict: row.verdict,
    currencies: Object.fromEntries(known.map(({ currency, verdict }) => [currency, verdict])),
    payouts,
    totals,
    ...(await openByAge(db, at)),
  };
}

/** Open discrepancies by age, and how many are of high severity. An acknowledged one is open nowhere: somebody is at work on it. */
async function openByAge(db: Db, at: string): Promise<Pick<Digest, 'ages' | 'high'>> {
  const { rows } = await sql<{ hour: string; n: bigint; high: bigint }>`
    select substr(first_seen_at, 1, 13) as hour, count(*) as n,
      sum(case when severity = 'high' or (later_severity = 'high' and graver_at <= ${at}) then 1 else 0 end) as high
    from discrepancies where state = 'open' group by substr(first_seen_at, 1, 13)`.execute(db);
  const counts = new Map<string, number>();
  for (const { hour, n } of rows) {
    const bucket = ageBucket(ageDays(`${hour}:00:00.000Z`, at));
    counts.set(bucket, (counts.get(bucket) ?? 0) + Number(n));
  }
  const ages = ageBuckets.flatMap((bucket) => {
    const n = counts.get(bucket);
    return n === undefined ? [] : [[bucket, n] as const];
  });
  return { ages: Object.fromEntries(ages), high: rows.reduce((sum, { high }) => sum + Number(high), 0) };
}
