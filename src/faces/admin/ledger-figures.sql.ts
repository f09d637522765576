import { sql } from 'kysely';
import { z } from 'zod';
import { lastRun } from '../../books/run-verdicts.sql.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import { allJobs } from '../../core/runtime/jobs.sql.ts';
import { freeBytes, ledgerBytes } from '../../core/storage/free-space.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { barrierHalt } from '../../sending/halt.ts';
import { findHalt } from '../../sending/halts.sql.ts';
import { readWebhookTallies, webhookLag } from '../../watching/webhooks/webhook-tallies.sql.ts';
import { attemptFigures, batchFigures, oldestFigures, payoutFigures } from './payout-figures.sql.ts';

/** What monitors see of a ledger. Every instant is ISO UTC. */
export type LedgerFigures = Awaited<ReturnType<typeof readFigures>>;

export type FigureSource = {
  /** A reader beside the ledger, or the ledger's own connection in a process that writes nothing. */
  db: Db;
  ledger: Pick<Ledger, 'place' | 'path' | 'unnotedFall'>;
  account: ServiceAccount | null;
  dataDir: string;
};

/**
 * Reads every figure. Nothing in it grows with the number of payouts: totals are kept as states change, and the rest
 * reads the ends of indexes, open discrepancies and one row of each batch and state. It holds no lock.
 */
export async function readFigures(source: FigureSource) {
  const { db, ledger, account, dataDir } = source;
  const halt = ledger.unnotedFall ? barrierHalt(ledger.unnotedFall) : await findHalt(db);
  const halts: readonly string[] = halt?.causes.map(({ kind }) => kind) ?? [];
  return {
    payouts: await payoutFigures(db),
    oldest: await oldestFigures(db),
    batches: await batchFigures(db),
    attempts: await attemptFigures(db),
    halts,
    webhooks: { ...(await readWebhookTallies(db)), ...(await webhookLag(db)) },
    jobs: await allJobs(db),
    run: await runFigures(db, account),
    discrepancies: await discrepancyFigures(db),
    /** Our clock less the service's, as the last look-up showed; null before the first. */
    clockSkewMs: await lastSkew(db),
    ledgerBytes: Number(await ledgerBytes(db)),
    freeBytes: await freeBytes(dataDir),
  };
}

const summaryShape = z.object({
  statement: z.record(z.string(), z.object({ unexplained: z.object({ amount: z.string() }) })),
});

async function runFigures(db: Db, account: ServiceAccount | null) {
  const last = await lastRun(db, await foreignOrigins(db, account));
  if (!last) return null;
  const row = await db.selectFrom('runs').select('summary').where('id', '=', last.run).executeTakeFirst();
  const read = summaryShape.safeParse(JSON.parse(row?.summary ?? '{}'));
  const statement = read.success ? read.data.statement : {};
  const unexplained = Object.fromEntries(
    Object.entries(statement).map(([currency, one]) => [currency, one.unexplained.amount]),
  );
  const { startedAt, verdict, currencies } = last;
  return { startedAt, verdict, currencies, unexplained };
}

/** Open discrepancies; acknowledged ones need nobody. */
async function discrepancyFigures(db: Db) {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['kind', 'severity', (eb) => eb.fn.countAll<bigint>().as('n')])
    .select((eb) => eb.fn.min<string>('first_seen_at').as('since'))
    .where('state', '=', 'open')
    .groupBy(['kind', 'severity'])
    .orderBy('kind')
    .execute();
  return rows.map(({ kind, severity, n, since }) => ({ kind, severity, count: Number(n), since }));
}

async function lastSkew(db: Db): Promise<number | null> {
  const { rows } = await sql<{ off: bigint | null }>`select clock_off_ms as off
    from (select id, clock_off_ms from inquiries order by id desc limit 100) i
    where clock_off_ms is not null order by id desc limit 1`.execute(db);
  const off = rows[0]?.off;
  return off == null ? null : Number(off);
}
