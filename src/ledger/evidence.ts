import type { Mode } from '../domain/payout.ts';
import { readDetail } from './history.ts';
import { type CompleteRun, newestCompleteRun } from './listings.ts';
import type { Db, Trx } from './open.ts';
import type { Attempt, Batch, Discrepancy, Inquiry, Payout, Webhook } from './tables.ts';

/**
 * The last answered details look-up of a payout; `said` is the status it recorded, null when it was no witness. It was
 * asked no earlier than `askedAt`, which is empty when nobody wrote that down.
 */
type LastLookUp = { askedAt: string; answeredAt: string; outcome: string; said: string | null };
/** What the newest complete listing shows under the payout: the statuses of the transfers paired with it. */
type LastListing = { run: string; startedAt: string; finishedAt: string; statuses: string[] };
/** One webhook about the payout, and what applying it did. */
type Heard = Pick<Webhook, 'id' | 'received_at' | 'deliveries' | 'effect'>;

/** Everything a person's decision about one payout rests on (P20). */
export type Evidence = {
  payout: Payout;
  batch: Batch;
  attempts: Attempt[];
  lookUp: LastLookUp | null;
  /** null: no run of the mode ever proved its listing complete. */
  listing: LastListing | null;
  webhooks: Heard[];
  /** Not resolved yet. */
  discrepancies: Discrepancy[];
  /** What that listing shows under nobody's reference with its account and amount, failed ones left out; at most 5. */
  lookAlikes: string[];
  /** When the ledger last went back in time under it: a lost copy may have sent or paid it until then (P25). */
  adoptedAt: string | null;
  /** The reference that already pays it again. */
  successor: string | null;
};

const chunk = 500;

/** The evidence of these payouts, by id. A few queries for each 500. */
export async function loadEvidence(db: Db | Trx, mode: Mode, ids: readonly bigint[]): Promise<Evidence[]> {
  const run = await newestCompleteRun(db, mode);
  const all: Evidence[] = [];
  const sorted = [...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1));
  for (let from = 0; from < sorted.length; from += chunk) {
    all.push(...(await loadChunk(db, sorted.slice(from, from + chunk), run)));
  }
  return all;
}

async function loadChunk(
  db: Db | Trx,
  ids: readonly bigint[],
  run: CompleteRun | undefined,
): Promise<Evidence[]> {
  const payouts = await db.selectFrom('payouts').selectAll().where('id', 'in', ids).orderBy('id').execute();
  const batchIds = [...new Set(payouts.map((payout) => payout.batch_id))];
  const batches = await db.selectFrom('batches').selectAll().where('id', 'in', batchIds).execute();
  const batchOf = new Map(batches.map((batch) => [batch.id, batch]));
  const attempts = Map.groupBy(
    await db.selectFrom('attempts').selectAll().where('payout_id', 'in', ids).orderBy('number').execute(),
    (attempt) => attempt.payout_id,
  );
  const successors = await db
    .selectFrom('payouts')
    .select(['successor_of', 'reference'])
    .where('successor_of', 'in', ids)
    .execute();
  const successorOf = new Map(successors.map((one) => [one.successor_of, one.reference]));
  const discrepancies = Map.groupBy(
    await db
      .selectFrom('discrepancies')
      .selectAll()
      .where('payout_id', 'in', ids)
      .where('state', '<>', 'resolved')
      .orderBy('id')
      .execute(),
    (one) => one.payout_id,
  );
  const webhooks = Map.groupBy(
    await db
      .selectFrom('webhooks')
      .select(['payout_id', 'id', 'received_at', 'deliveries', 'effect'])
      .where('payout_id', 'in', ids)
      .orderBy('id')
      .execute(),
    (one) => one.payout_id,
  );
  const lookUps = await lastLookUps(db, ids);
  const adopted = await lastAdoptions(db, ids);
  const alike = run ? await lookAlikes(db, run.id, ids) : new Map<bigint, string[]>();
  const listed = run ? await listedStatuses(db, run.id, ids) : new Map<bigint | null, string[]>();
  return payouts.flatMap((payout) => {
    const batch = batchOf.get(payout.batch_id);
    if (!batch) return [];
    const { id } = payout;
    return {
      payout,
      batch,
      attempts: attempts.get(id) ?? [],
      lookUp: lookUps.get(id) ?? null,
      listing: run ? listingOf(run, listed.get(id) ?? []) : null,
      lookAlikes: alike.get(id) ?? [],
      adoptedAt: adopted.get(id) ?? null,
      webhooks: webhooks.get(id) ?? [],
      discrepancies: discrepancies.get(id) ?? [],
      successor: successorOf.get(id) ?? null,
    };
  });
}

function listingOf({ id, startedAt, finishedAt }: CompleteRun, statuses: string[]): LastListing {
  return { run: id, startedAt, finishedAt, statuses };
}

/** Successors that a lost copy of the ledger made are listed under references that this one does not know (P25). */
async function lookAlikes(db: Db | Trx, run: string, ids: readonly bigint[]): Promise<Map<bigint, string[]>> {
  const rows = await db
    .selectFrom('payouts as p')
    .innerJoin('listed as l', (join) =>
      join
        .onRef('l.account_number', '=', 'p.account_number')
        .onRef('l.amount', '=', 'p.amount')
        .onRef('l.currency', '=', 'p.currency'),
    )
    .select(['p.id', 'l.reference'])
    .where('p.id', 'in', ids)
    .where('p.state', 'in', ['unknown', 'failed', 'refused', 'returned'])
    .where('l.run_id', '=', run)
    .where('l.payout_id', 'is', null)
    .where('l.status', '<>', 'failed')
    .orderBy('l.transfer_id')
    .execute();
  const byPayout = Map.groupBy(rows, (row) => row.id);
  return new Map([...byPayout].map(([id, own]) => [id, own.slice(0, 5).map((row) => row.reference)]));
}

async function listedStatuses(
  db: Db | Trx,
  run: string,
  ids: readonly bigint[],
): Promise<Map<bigint | null, string[]>> {
  const rows = await db
    .selectFrom('listed')
    .select(['payout_id', 'status'])
    .where('run_id', '=', run)
    .where('payout_id', 'in', ids)
    .orderBy('transfer_id')
    .execute();
  const byPayout = Map.groupBy(rows, (row) => row.payout_id);
  return new Map([...byPayout].map(([id, own]) => [id, own.map((row) => row.status)]));
}

async function lastAdoptions(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const rows = await db
    .selectFrom('history')
    .select((eb) => ['payout_id', eb.fn.max('at').as('at')])
    .where('payout_id', 'in', ids)
    .where('event', '=', 'adopted')
    .groupBy('payout_id')
    .execute();
  return new Map(rows.map(({ payout_id, at }) => [payout_id, at]));
}

/** The last answered details look-up of each payout, with what its answer made the history say. */
async function lastLookUps(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, LastLookUp>> {
  const details = db.selectFrom('inquiries').where('kind', '=', 'details').where('payout_id', 'in', ids);
  const newest = details
    .select((eb) => eb.fn.max('id').as('id'))
    .where('asked_at', 'is not', null)
    .where('outcome', 'is not', null)
    .groupBy('payout_id');
  const asked = await db.selectFrom('inquiries').selectAll().where('id', 'in', newest).execute();
  const superseded = await details.selectAll().where('outcome', '=', 'superseded').execute();
  const told = await db
    .selectFrom('history')
    .select(['payout_id', 'at', 'event', 'detail'])
    .where('payout_id', 'in', ids)
    .where('source', '=', 'details')
    .where('event', 'like', 'details says %')
    .orderBy('seq')
    .execute();
  const askedOf = new Map(asked.map((one) => [one.payout_id, one]));
  const supersededOf = Map.groupBy(superseded, (one) => one.payout_id);
  const toldOf = Map.groupBy(told, (entry) => entry.payout_id);
  return new Map(
    ids.flatMap((id) => {
      const own = supersededOf.get(id) ?? [];
      const last = lastLookUp(askedOf.get(id), toldOf.get(id) ?? [], own);
      return last ? [[id, last] as const] : [];
    }),
  );
}

type Told = { at: string; event: string; detail: string };

function lastLookUp(
  asked: Inquiry | undefined,
  told: readonly Told[],
  superseded: readonly Inquiry[],
): LastLookUp | null {
  const last = told.at(-1);
  if (last && (!asked?.answered_at || last.at > asked.answered_at)) {
    // An answer that makes the payout final closes every open question, its own too, before it is written down there.
    const own = superseded.find(({ answered_at, due_at }) => answered_at === last.at && due_at <= last.at);
    const { conflict } = readDetail(last.detail);
    const outcome = typeof conflict === 'string' ? `conflict: ${conflict}` : 'found';
    const askedAt = own?.due_at ?? asked?.asked_at ?? '';
    return { askedAt, answeredAt: last.at, outcome, said: saidBy(last) };
  }
  if (!asked) return null;
  const { asked_at, answered_at, outcome } = asked;
  const entry = told.findLast(({ at }) => at === answered_at);
  return {
    askedAt: asked_at ?? '',
    answeredAt: answered_at ?? asked_at ?? '',
    outcome: outcome ?? '',
    said: entry ? saidBy(entry) : null,
  };
}

function saidBy({ event }: Told): string {
  return event.slice('details says '.length);
}
