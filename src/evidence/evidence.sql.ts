import { type RawBuilder, sql } from 'kysely';
import type { InquiryReason } from '../domain/inquiry-reason.ts';
import type { Account, Origin } from '../domain/origin.ts';
import { lastAdoption } from '../ledger/barriers.ts';
import { readDetail } from '../ledger/history.ts';
import { foreignOrigins, sentElsewhere } from '../ledger/origins.ts';
import { type CompleteRun, newestCompleteRun } from '../listing/listings.sql.ts';
import { type LastLookUp, lastLookUps } from '../lookups/last-look-ups.sql.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Attempt, Batch, Discrepancy, Payout, Webhook } from '../storage/tables/tables.ts';
import { contradictions, openQuestionsOf, revivedOf } from './doubts.sql.ts';
import {
  type LastListing,
  type ListedSince,
  lastListings,
  listedSince,
  lookAlikes,
  type RunWithRows,
  runsSince,
} from './listed-evidence.sql.ts';

/**
 * One webhook about the payout, and what applying it did. `entry`: its own entry of the history, where it has one;
 * `told`: the newest one of the details, if any. Unlike the times, these are in the order of what happened.
 */
type Heard = Pick<Webhook, 'id' | 'received_at' | 'deliveries' | 'effect'> & {
  entry: bigint | null;
  told: bigint | null;
};

/** What a person said of a payout, as `source` names whom (P19). */
export type PersonsWord = { at: string; source: string; note: string };

/** Everything a person's decision about one payout rests on (P20). */
export type Evidence = {
  payout: Payout;
  batch: Batch;
  attempts: Attempt[];
  lookUp: LastLookUp | null;
  /** What the last look-up that told anything contradicts the ledger with; later ones may have got no answer. */
  contradiction: string | null;
  /** The details have shown it on its way again since it failed, and not as failed since; later ones got no answer. */
  revived: boolean;
  /** Why a look-up of it is due that nobody has answered yet. */
  asking: InquiryReason | null;
  /** null: no run at the account that is asked ever proved its listing complete. */
  listing: LastListing | null;
  /** What runs since have shown, complete or not: presence needs no complete list, absence does (P16). */
  listedSince: ListedSince[];
  webhooks: Heard[];
  /** Not resolved yet. */
  discrepancies: Discrepancy[];
  /** What the list shows under nobody's reference that may be another payment of it, failed ones left out; at most 5. */
  lookAlikes: string[];
  /** When the ledger last went back in time under it: a lost copy may have sent or paid it until then (P25). */
  adoptedAt: string | null;
  /** A person settled it as not paid, and has not ordered it again since: what was said then, whatever was heard later. */
  notPaid: PersonsWord | null;
  /** It went to another account than the one that is asked now, as far as can be told (P31). */
  elsewhere: { went: Origin; asks: Account } | null;
  /** The reference that already pays it again. */
  successor: string | null;
};

const chunk = 500;

/** What all of them are weighed by. `prefix`: what new references begin with. */
type Ground = {
  complete: CompleteRun | undefined;
  later: RunWithRows[];
  prefix: string;
  account: Account | null;
};

/** The evidence of these payouts, by id, as `account` sees it. A few queries for each 500. */
export async function loadEvidence(
  db: Db | Trx,
  ids: readonly bigint[],
  { prefix = '', account = null }: { prefix?: string | undefined; account?: Account | null | undefined } = {},
): Promise<Evidence[]> {
  const complete = await newestCompleteRun(db, await foreignOrigins(db, account));
  const ground = { complete, later: await runsSince(db, complete), prefix, account };
  const all: Evidence[] = [];
  const sorted = [...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1));
  for (let from = 0; from < sorted.length; from += chunk) {
    all.push(...(await loadChunk(db, sorted.slice(from, from + chunk), ground)));
  }
  return all;
}

async function loadChunk(db: Db | Trx, ids: readonly bigint[], ground: Ground): Promise<Evidence[]> {
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
      .select([entryFrom(sql`'webhook ' || webhooks.id`).as('entry'), entryFrom(sql`'details'`).as('told')])
      .where('payout_id', 'in', ids)
      .orderBy('id')
      .execute(),
    (one) => one.payout_id,
  );
  const lookUps = await lastLookUps(db, ids);
  const contradicted = await contradictions(db, ids);
  const revived = await revivedOf(db, ids);
  const asking = await openQuestionsOf(db, ids);
  const adopted = await lastAdoptions(db, ids);
  const notPaid = await settledAsNotPaid(db, ids);
  const { complete, later, prefix, account } = ground;
  const elsewhere = account ? await sentElsewhere(db, ids, account) : new Map<bigint, Origin>();
  const listed = await lastListings(db, complete, payouts);
  const since = await listedSince(db, later, payouts);
  const lost = { ids: new Set(adopted.keys()), prefix };
  const alike = await lookAlikes(db, { complete, later }, payouts, lost);
  return payouts.flatMap((payout) => {
    const batch = batchOf.get(payout.batch_id);
    if (!batch) return [];
    const { id } = payout;
    const lookUp = lookUps.get(id) ?? null;
    const against = contradicted.get(id);
    const settled = lookUp?.outcome === 'found' && lookUp.answeredAt > (against?.answeredAt ?? '');
    return {
      payout,
      batch,
      attempts: attempts.get(id) ?? [],
      lookUp,
      contradiction: against && !settled ? against.outcome : null,
      revived: revived.has(id),
      asking: asking.get(id) ?? null,
      listing: listed.get(id) ?? null,
      listedSince: since.get(id) ?? [],
      lookAlikes: alike.get(id) ?? [],
      adoptedAt: adopted.get(id) ?? null,
      webhooks: webhooks.get(id) ?? [],
      discrepancies: discrepancies.get(id) ?? [],
      elsewhere: elsewhereOf(account, elsewhere.get(id)),
      notPaid: notPaid.get(id) ?? null,
      successor: successorOf.get(id) ?? null,
    };
  });
}

function elsewhereOf(asks: Account | null, went: Origin | undefined): Evidence['elsewhere'] {
  return asks && went ? { went, asks } : null;
}

/** The newest entry that the history of a webhook's payout has from this source. */
const entryFrom = (source: RawBuilder<unknown>): RawBuilder<bigint | null> =>
  sql`(select max(h.id) from history h where h.payout_id = webhooks.payout_id and h.source = ${source})`;

/** When the ledger last went back in time under each of these; not those that came in since. */
async function lastAdoptions(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const rows = await db
    .selectFrom('history')
    .select((eb) => ['payout_id', eb.fn.max('at').as('at')])
    .where('payout_id', 'in', ids)
    .where('event', '=', 'adopted')
    .groupBy('payout_id')
    .execute();
  const own = new Map(rows.map(({ payout_id, at }) => [payout_id, at]));
  const all = await lastAdoption(db);
  // What was under way or settled then is not forgotten, but may have failed since in the lost copy, and been paid again.
  const older = all ? ids.filter((id) => id <= all.through && (own.get(id) ?? '') < all.at) : [];
  return new Map([...own, ...older.map((id) => [id, all?.at ?? ''] as const)]);
}

/** The last decision about each of these where it was a person's that it was not paid. */
async function settledAsNotPaid(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, PersonsWord>> {
  const decided = await db
    .selectFrom('history')
    .select(['payout_id', 'at', 'event', 'source', 'detail'])
    .where('payout_id', 'in', ids)
    .where('event', 'in', ['settle as failed', 'settle as success', 'retry'])
    .orderBy('seq')
    .execute();
  const last = new Map(decided.map((one) => [one.payout_id, one]));
  return new Map(
    [...last.values()].flatMap(({ payout_id, at, event, source, detail }) => {
      const { message } = readDetail(detail);
      const note = typeof message === 'string' ? message : '';
      return event === 'settle as failed' ? [[payout_id, { at, source, note }] as const] : [];
    }),
  );
}
