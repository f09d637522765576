import { type Account, isOfAccount, type Origin, type Standpoint } from '../domain/origin.ts';
import { mayHaveBeenTaken } from '../domain/outcome.ts';
import { idsOf } from '../storage/bulk.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';

/** Writes down where a process of this account sends and asks from; the same origin keeps its id for the ledger's life. */
export async function standAt(ledger: Ledger, account: Account): Promise<Standpoint> {
  return { account, originId: await originId(ledger, account) };
}

async function originId(ledger: Ledger, { own }: Account): Promise<bigint> {
  const row = { base_url: own.baseUrl, secret_key: own.secretKey, order_key: own.orderKey };
  const find = (db: Db | Trx) =>
    db
      .selectFrom('origins')
      .select('id')
      .where((eb) => eb.and(row))
      .executeTakeFirst();
  const known = await find(ledger.db);
  if (known) return known.id;
  return ledger.write(async (trx) => {
    const raced = await find(trx);
    if (raced) return raced.id;
    const { id } = await trx.insertInto('origins').values(row).returning('id').executeTakeFirstOrThrow();
    return id;
  });
}

/**
 * Of these payouts, those of which an attempt went somewhere that this account does not see, with that origin (P31).
 * What never left this machine went nowhere. What a lost copy of the ledger may have sent (P25) may have gone wherever
 * this ledger ever sent.
 */
export async function sentElsewhere(
  db: Db | Trx,
  ids: readonly bigint[],
  account: Account,
): Promise<Map<bigint, Origin>> {
  const foreign = await unseenOrigins(db, account);
  const sends = await sendsOf(db, ids, foreign);
  const [used] = sends.some(({ unseen_sends }) => unseen_sends > 0n) ? await usedOf(db, foreign) : [];
  const elsewhere = new Map<bigint, Origin>();
  for (const { id, origin_id, unseen_sends } of sends) {
    const origin = origin_id === null ? undefined : foreign.get(origin_id);
    if (origin) elsewhere.set(id, origin);
    else if (unseen_sends > 0n && used && !elsewhere.has(id)) elsewhere.set(id, used[1]);
  }
  return elsewhere;
}

/**
 * Of these payouts, those of which nothing may have reached this account, with the origin that they went to (P31): each
 * attempt that may have been taken went elsewhere, or, where none was, each that was sent. What a lost copy of the ledger
 * may have sent (P25) may have come here.
 */
export async function sentOnlyElsewhere(
  db: Db | Trx,
  ids: readonly bigint[],
  account: Account,
): Promise<Map<bigint, Origin>> {
  return sentOnlyTo(db, ids, await unseenOrigins(db, account));
}

/**
 * The same where each of these attempts was made with another key: what is signed with a key of this account cannot be
 * about it. The address does not count, as no signature names one.
 */
export async function sentWithOtherKeys(
  db: Db | Trx,
  ids: readonly bigint[],
  account: Account,
): Promise<Map<bigint, Origin>> {
  const foreign = [...(await unseenOrigins(db, account))];
  const others = foreign.filter(([, { secretKey }]) => !account.secretKeys.includes(secretKey));
  return sentOnlyTo(db, ids, new Map(others));
}

async function sentOnlyTo(
  db: Db | Trx,
  ids: readonly bigint[],
  foreign: ReadonlyMap<bigint, Origin>,
): Promise<Map<bigint, Origin>> {
  const sends = await sendsOf(db, ids, foreign);
  const elsewhere = new Map<bigint, Origin>();
  const remembered = sends.filter((one) => one.origin_id !== null && one.unseen_sends === 0n);
  for (const [id, sent] of Map.groupBy(remembered, (one) => one.id)) {
    const taken = sent.filter(({ outcome }) => mayHaveBeenTaken(outcome));
    const origins = (taken.length > 0 ? taken : sent).map(({ origin_id }) => foreign.get(origin_id ?? 0n));
    const [first] = origins;
    if (first && origins.every((origin) => origin !== undefined)) elsewhere.set(id, first);
  }
  return elsewhere;
}

/** Every attempt of these payouts that left this machine, one row without an attempt where none did; none at home. */
async function sendsOf(db: Db | Trx, ids: readonly bigint[], foreign: ReadonlyMap<bigint, Origin>) {
  if (ids.length === 0 || foreign.size === 0) return [];
  return db
    .selectFrom('payouts')
    .leftJoin('attempts', (join) =>
      join
        .onRef('attempts.payout_id', '=', 'payouts.id')
        .on((eb) => eb.or([eb('attempts.outcome', 'is', null), eb('attempts.outcome', '<>', 'not_sent')])),
    )
    .select(['payouts.id', 'payouts.unseen_sends', 'attempts.origin_id', 'attempts.outcome'])
    .where('payouts.id', 'in', idsOf(ids))
    .execute();
}

/** The origins that are not this account's, and of which it has shown nothing either. */
export async function unseenOrigins(db: Db | Trx, account: Account): Promise<Map<bigint, Origin>> {
  const origins = await db.selectFrom('origins').selectAll().execute();
  const own: bigint[] = [];
  const foreign = new Map<bigint, Origin>();
  for (const { id, base_url, secret_key, order_key } of origins) {
    const origin = { baseUrl: base_url, secretKey: secret_key, orderKey: order_key };
    if (isOfAccount(origin, account)) own.push(id);
    else foreign.set(id, origin);
  }
  if (foreign.size === 0) return foreign;
  const sights = await db
    .selectFrom('origin_sights')
    .select('origin_id')
    .where('seen_by', 'in', idsOf(own))
    .execute();
  for (const { origin_id } of sights) foreign.delete(origin_id);
  return foreign;
}

/** Their ids, for questions about runs; empty where no account is configured. */
export async function foreignOrigins(db: Db | Trx, account: Account | null): Promise<bigint[]> {
  return account ? [...(await unseenOrigins(db, account)).keys()] : [];
}

/** Those from which anything was ever sent. */
async function usedOf(db: Db | Trx, origins: Map<bigint, Origin>): Promise<[bigint, Origin][]> {
  const used: [bigint, Origin][] = [];
  for (const [id, origin] of origins) {
    const sent = await db
      .selectFrom('attempts')
      .select('id')
      .where('origin_id', '=', id)
      .limit(1)
      .executeTakeFirst();
    if (sent) used.push([id, origin]);
  }
  return used;
}

/**
 * What this account showed of a payout that was accepted elsewhere, and sent nowhere else, proves both to be one: under
 * the id of that acceptance, since another order of the same money may bear the same reference. `transferId`: what it showed.
 */
export async function noteSight(
  trx: Trx,
  { payout, transferId, at }: { payout: bigint; transferId: string | null; at: string },
  { account, originId: seenBy }: Standpoint,
): Promise<void> {
  if (transferId === null) return;
  const foreign = await unseenOrigins(trx, account);
  if (foreign.size === 0) return;
  const attempts = await trx
    .selectFrom('attempts')
    .select(['origin_id', 'outcome', 'transfer_id'])
    .where('payout_id', '=', payout)
    .execute();
  const [first] = attempts;
  if (!first || !foreign.has(first.origin_id)) return;
  if (!attempts.some((one) => one.outcome === 'accepted' && one.transfer_id === transferId)) return;
  if (attempts.every(({ origin_id }) => origin_id === first.origin_id))
    await insertSight(trx, first.origin_id, { seenBy, at });
}

/** The same for all that the list of a run shows. Nothing is looked for where everything was sent from here. */
export async function noteListedSights(
  trx: Trx,
  run: string,
  { account, originId: seenBy }: Standpoint,
  at: string,
): Promise<void> {
  for (const [origin] of await usedOf(trx, await unseenOrigins(trx, account))) {
    const listed = await trx
      .selectFrom('listed')
      .innerJoin('attempts as a', 'a.payout_id', 'listed.payout_id')
      .innerJoin('payouts as p', 'p.id', 'a.payout_id')
      .select('listed.payout_id')
      .where('listed.run_id', '=', run)
      .where('a.origin_id', '=', origin)
      .where('a.outcome', '=', 'accepted')
      .whereRef('a.transfer_id', '=', 'listed.transfer_id')
      // Each account may count its ids from the same number.
      .whereRef('p.reference_key', '=', 'listed.reference_key')
      .whereRef('p.currency', '=', 'listed.currency')
      .whereRef('p.amount', '=', 'listed.amount')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('attempts as o')
              .select('o.id')
              .whereRef('o.payout_id', '=', 'a.payout_id')
              .where('o.origin_id', '<>', origin),
          ),
        ),
      )
      .limit(1)
      .executeTakeFirst();
    if (listed) await insertSight(trx, origin, { seenBy, at });
  }
}

async function insertSight(
  trx: Trx,
  origin: bigint,
  { seenBy, at }: { seenBy: bigint; at: string },
): Promise<void> {
  await trx
    .insertInto('origin_sights')
    .values({ seen_by: seenBy, origin_id: origin, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
