import { sql } from 'kysely';
import { foldReference } from '../core/domain/ids.ts';
import { formatMinor } from '../core/domain/money.ts';
import type { CountedState } from '../core/domain/payout.ts';
import { recounted, replacedSums } from '../core/ledger/replaced.ts';
import { stateSums } from '../core/ledger/state-sums.ts';
import { ArchiveAbsent, openArchive } from '../core/storage/archive-file.ts';
import { hasRow } from '../core/storage/counting.ts';
import type { Db, Ledger } from '../core/storage/ledger.ts';
import type {
  Attempt,
  Discrepancy,
  HistoryRow,
  Inquiry,
  Payout,
  Webhook,
} from '../core/storage/tables/tables.ts';
import { type ShownRow, shownUnder } from '../watching/listing/shown-under.sql.ts';
import { type Life, livesOf } from './discrepancies/discrepancy-events.sql.ts';

export type Overview = {
  batches: Record<string, number>;
  payouts: Partial<Record<CountedState, number>>;
  totals: Record<string, Partial<Record<CountedState, string>>>;
};

/** Payouts by how they count, with amounts. */
export async function payoutOverview(db: Db): Promise<Omit<Overview, 'batches'>> {
  const payouts: Overview['payouts'] = {};
  const minor: Record<string, Partial<Record<CountedState, bigint>>> = {};
  for (const { state, currency, n, amount } of recounted(await stateSums(db), await replacedSums(db))) {
    payouts[state] = (payouts[state] ?? 0) + Number(n);
    minor[currency] = { ...minor[currency], [state]: (minor[currency]?.[state] ?? 0n) + amount };
  }
  const totals: Overview['totals'] = {};
  for (const currency of Object.keys(minor).toSorted())
    totals[currency] = Object.fromEntries(
      Object.entries(minor[currency] ?? {}).map(([state, amount]) => [state, formatMinor(amount, currency)]),
    );
  return { payouts, totals };
}

/** Whether a payout might have been sent since before an instant, ISO UTC. `day`: the one that holds that instant (P38). */
export function isReadySince(db: Db, before: string, day: string): Promise<boolean> {
  const ready = db.selectFrom('payouts').where('state', '=', 'ready');
  return hasRow(ready.where('updated_at', '<', before).where('pay_on', '<=', day));
}

export type Story = {
  payout: Payout;
  /** The file that has the rest of its story, and whether it could be read; null: the ledger has it all. */
  archive: { file: string; read: boolean } | null;
  attempts: Attempt[];
  webhooks: Webhook[];
  lookups: Inquiry[];
  listings: ShownRow[];
  discrepancies: (Discrepancy & { life: Life[] })[];
  history: HistoryRow[];
};

/** Everything the ledger knows of one payout; undefined for a reference it does not hold. */
export async function payoutStory(
  ledger: Pick<Ledger, 'db' | 'path'>,
  reference: string,
): Promise<Story | undefined> {
  const { db } = ledger;
  const payout = await db
    .selectFrom('payouts')
    .selectAll()
    .where('reference_key', '=', foldReference(reference))
    .executeTakeFirst();
  if (!payout) return undefined;
  const kept = await storyIn(db, payout);
  if (payout.archived_seq === null) return { ...kept, archive: null };
  return withArchive(ledger, kept);
}

/** The story with what the archive of its batch has of it: the archive's rows, and those that came since. */
async function withArchive(
  ledger: Pick<Ledger, 'db' | 'path'>,
  kept: Omit<Story, 'archive'>,
): Promise<Story> {
  const { payout } = kept;
  const { file, id } = await ledger.db
    .selectFrom('archives as a')
    .innerJoin('batches as b', 'b.archive_id', 'a.id')
    .select(['a.file', 'a.id'])
    .where('b.id', '=', payout.batch_id)
    .executeTakeFirstOrThrow();
  let archive: Awaited<ReturnType<typeof openArchive>>;
  try {
    archive = await openArchive(ledger, id);
  } catch (error) {
    if (!(error instanceof ArchiveAbsent)) throw error;
    return { ...kept, archive: { file, read: false } };
  }
  try {
    const old = await archive.db
      .selectFrom('payouts')
      .selectAll()
      .where('id', '=', payout.id)
      .executeTakeFirstOrThrow();
    const then = await storyIn(archive.db, old);
    const { body, cells } = old;
    return {
      ...kept,
      payout: { ...payout, body, cells },
      attempts: joined(then.attempts, kept.attempts),
      webhooks: joined(then.webhooks, kept.webhooks),
      lookups: joined(then.lookups, kept.lookups),
      history: joined(then.history, kept.history),
      archive: { file, read: true },
    };
  } finally {
    await archive.close();
  }
}

/** The rows of the archive, which has them whole, and those that only the ledger has. */
function joined<Row extends { id: bigint }>(archived: readonly Row[], kept: readonly Row[]): Row[] {
  const ids = new Set(archived.map(({ id }) => id));
  return [...archived, ...kept.filter(({ id }) => !ids.has(id))];
}

async function storyIn(db: Db, payout: Payout): Promise<Omit<Story, 'archive'>> {
  const { id } = payout;
  return {
    payout,
    attempts: await db
      .selectFrom('attempts')
      .selectAll()
      .where('payout_id', '=', id)
      .orderBy('number')
      .execute(),
    webhooks: await db.selectFrom('webhooks').selectAll().where('payout_id', '=', id).orderBy('id').execute(),
    lookups: await db.selectFrom('inquiries').selectAll().where('payout_id', '=', id).orderBy('id').execute(),
    listings: await shownUnder(db, sql`select id from runs`, [payout]),
    discrepancies: await discrepanciesOf(db, id),
    history: await db.selectFrom('history').selectAll().where('payout_id', '=', id).orderBy('seq').execute(),
  };
}

async function discrepanciesOf(db: Db, payoutId: bigint): Promise<Story['discrepancies']> {
  const found = await db
    .selectFrom('discrepancies')
    .selectAll()
    .where('payout_id', '=', payoutId)
    .orderBy('id')
    .execute();
  const ids = found.map(({ id }) => id);
  const lives = await livesOf(db, ids);
  return found.map((one) => ({ ...one, life: lives.get(one.id) ?? [] }));
}

/** What the ledger holds as paid, per currency: payouts in `success`, counted and summed in minor units. */
export async function paidSums(db: Db): Promise<Map<string, { count: number; minor: bigint }>> {
  const paid = new Map<string, { count: number; minor: bigint }>();
  for (const { state, currency, n, amount } of await stateSums(db)) {
    if (state !== 'success') continue;
    const { count, minor } = paid.get(currency) ?? { count: 0, minor: 0n };
    paid.set(currency, { count: count + Number(n), minor: minor + amount });
  }
  return paid;
}
