import { type RawBuilder, sql } from 'kysely';
import type { Contradiction } from '../../core/domain/contradiction.ts';
import { settleEvents } from '../../core/domain/history-event.ts';
import type { InquiryReason } from '../../core/domain/inquiry-reason.ts';
import type { Origin, ServiceAccount } from '../../core/domain/origin.ts';
import { lastAdoption } from '../../core/ledger/barriers.ts';
import type { SaidFields } from '../../core/ledger/contradiction-columns.ts';
import { readDetail } from '../../core/ledger/history.ts';
import { foreignOrigins, sentElsewhere } from '../../core/ledger/origins.ts';
import { type After, afterEach } from '../../core/ledger/successors.ts';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Attempt, Batch, Discrepancy, Payout, Webhook } from '../../core/storage/tables/tables.ts';
import { type CompleteRun, newestCompleteRun } from '../listing/listings.sql.ts';
import { type LastLookUp, lastLookUps } from '../lookups/last-look-ups.sql.ts';
import { contradictions, disputes, openQuestionsOf, revivedOf, webhookStands } from './doubts.sql.ts';
import {
  type LastListing,
  type ListedSince,
  lastListings,
  listedSince,
  lookAlikes,
  type RunWithRows,
  runsSince,
} from './listed-evidence.sql.ts';

/** A webhook about the payout. `stands`: 1 where it contradicts the payout and no look-up has settled that. */
type Heard = Pick<Webhook, 'id' | 'received_at' | 'deliveries' | 'verdict' | keyof SaidFields> & {
  stands: bigint;
};

/** What a person said of a payout; `source` names the person (P19). */
export type PersonsDecision = { at: string; source: string; note: string };

/** Everything a person's decision about one payout rests on (P20). */
export type PayoutEvidence = {
  payout: Payout;
  batch: Batch;
  attempts: Attempt[];
  lookUp: LastLookUp | null;
  /** How the last look-up that said anything contradicts the ledger; later ones may have got no answer. */
  contradiction: Contradiction | null;
  /** Since it failed, the details have shown it as on its way or paid, and not as failed again. */
  revived: boolean;
  /** Why a look-up of it is due that has no answer yet. */
  asking: InquiryReason | null;
  /** Null where no run at the account that is asked ever proved its listing complete. */
  listing: LastListing | null;
  /** What runs since then have shown, complete or not: presence needs no complete list, absence does (P16). */
  listedSince: ListedSince[];
  webhooks: Heard[];
  /** Not resolved yet; `disputes`: 1 where two final witnesses disagree. */
  discrepancies: (Discrepancy & { disputes: bigint })[];
  /** Transfers of no payout in the list that may be another payment of it, without failed ones; at most 5. */
  lookAlikes: string[];
  /** When the ledger last went back in time while it held this payout: a lost copy may have sent or paid it (P25). */
  adoptedAt: string | null;
  /** What a person said who settled it as not paid and has not retried it since, whatever else arrived later. */
  notPaid: PersonsDecision | null;
  /** It was sent from another account than the one that is asked now, as far as is known (P31). */
  elsewhere: { went: Origin; asks: ServiceAccount } | null;
  /** The payout that it pays again. */
  predecessor: string | null;
} & After;

const chunk = 500;

/** What is the same for all payouts of one call. `prefix`: what new references begin with. */
type Ground = {
  complete: CompleteRun | undefined;
  later: RunWithRows[];
  prefix: string;
  account: ServiceAccount | null;
};

/** Loads the evidence of these payouts, by id, as `account` sees it. A few queries for each 500. */
export async function loadEvidence(
  db: Db | Trx,
  ids: readonly bigint[],
  {
    prefix = '',
    account = null,
  }: { prefix?: string | undefined; account?: ServiceAccount | null | undefined } = {},
): Promise<PayoutEvidence[]> {
  const complete = await newestCompleteRun(db, await foreignOrigins(db, account));
  const ground = { complete, later: await runsSince(db, complete), prefix, account };
  const all: PayoutEvidence[] = [];
  const sorted = [...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1));
  for (const some of inParts(sorted, chunk)) all.push(...(await loadChunk(db, some, ground)));
  return all;
}

async function loadChunk(db: Db | Trx, ids: readonly bigint[], ground: Ground): Promise<PayoutEvidence[]> {
  const payouts = await db
    .selectFrom('payouts')
    .selectAll()
    .where('id', 'in', idList(ids))
    .orderBy('id')
    .execute();
  const batchIds = [...new Set(payouts.map((payout) => payout.batch_id))];
  const batches = await db.selectFrom('batches').selectAll().where('id', 'in', textsOf(batchIds)).execute();
  const batchOf = new Map(batches.map((batch) => [batch.id, batch]));
  const attempts = Map.groupBy(
    await db
      .selectFrom('attempts')
      .selectAll()
      .where('payout_id', 'in', idList(ids))
      .orderBy('number')
      .execute(),
    (attempt) => attempt.payout_id,
  );
  const before = await db
    .selectFrom('payouts')
    .select(['id', 'reference'])
    .where('id', 'in', idList(payouts.flatMap(({ successor_of }) => successor_of ?? [])))
    .execute();
  const referenceOf = new Map(before.map((one) => [one.id, one.reference]));
  const after = await afterEach(db, ids);
  const discrepancies = Map.groupBy(
    await db
      .selectFrom('discrepancies as d')
      .selectAll()
      .select(flag(disputes).as('disputes'))
      .where('d.payout_id', 'in', idList(ids))
      .where('d.state', '<>', 'resolved')
      .orderBy('d.id')
      .execute(),
    (one) => one.payout_id,
  );
  const webhooks = Map.groupBy(
    await db
      .selectFrom('webhooks as w')
      .innerJoin('payouts as p', 'p.id', 'w.payout_id')
      .select(['w.payout_id', 'w.id', 'w.received_at', 'w.deliveries'])
      .select(['w.verdict', 'w.said', 'w.against', 'w.differences'])
      .select(flag(webhookStands).as('stands'))
      .where('w.payout_id', 'in', idList(ids))
      .orderBy('w.id')
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
    return {
      payout,
      batch,
      attempts: attempts.get(id) ?? [],
      lookUp: lookUps.get(id) ?? null,
      contradiction: contradicted.get(id) ?? null,
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
      predecessor: (payout.successor_of !== null && referenceOf.get(payout.successor_of)) || null,
      ...(after.get(id) ?? { successor: null, cancelled: null }),
    };
  });
}

function elsewhereOf(asks: ServiceAccount | null, went: Origin | undefined): PayoutEvidence['elsewhere'] {
  return asks && went ? { went, asks } : null;
}

const flag = (condition: RawBuilder<boolean>): RawBuilder<bigint> =>
  sql`case when ${condition} then 1 else 0 end`;

/** When the ledger last went back in time while it held each of these payouts; without those that came in since. */
async function lastAdoptions(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const rows = await db
    .selectFrom('history')
    .select((eb) => ['payout_id', eb.fn.max('at').as('at')])
    .where('payout_id', 'in', idList(ids))
    .where('event', '=', 'adopted')
    .groupBy('payout_id')
    .execute();
  const own = new Map(rows.map(({ payout_id, at }) => [payout_id, at]));
  const all = await lastAdoption(db);
  // What was under way or settled then may have failed since in the lost copy, and been paid again.
  const older = all ? ids.filter((id) => id <= all.through && (own.get(id) ?? '') < all.at) : [];
  return new Map([...own, ...older.map((id) => [id, all?.at ?? ''] as const)]);
}

/** The last decision about each of these payouts, where a person settled it as not paid. */
async function settledAsNotPaid(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, PersonsDecision>> {
  const decided = await db
    .selectFrom('history')
    .select(['payout_id', 'at', 'event', 'source', 'detail'])
    .where('payout_id', 'in', idList(ids))
    .where('event', 'in', [...Object.values(settleEvents), 'retry'])
    .orderBy('seq')
    .execute();
  const last = new Map(decided.map((one) => [one.payout_id, one]));
  return new Map(
    [...last.values()].flatMap(({ payout_id, at, event, source, detail }) => {
      const { message } = readDetail(detail);
      const note = typeof message === 'string' ? message : '';
      return event === settleEvents.failed ? [[payout_id, { at, source, note }] as const] : [];
    }),
  );
}
