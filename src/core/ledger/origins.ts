import { isOfAccount, type Origin, type ServiceAccount, type Standpoint } from '../domain/origin.ts';
import { mayHaveBeenTaken } from '../domain/outcome.ts';
import { idList } from '../storage/bulk.ts';
import { hasRow } from '../storage/counting.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';

/**
 * Records the address and keys that a process of this account uses. The same origin keeps its id for the ledger's life.
 */
export async function recordStandpoint(ledger: Ledger, account: ServiceAccount): Promise<Standpoint> {
  return { account, originId: await originId(ledger, account) };
}

async function originId(ledger: Ledger, { own }: ServiceAccount): Promise<bigint> {
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
 * Returns those of these payouts with an attempt at an origin that this account cannot see, with that origin
 * (P31). A request that never left this machine does not count. Where a lost copy may have sent (P25), it may
 * have used any origin of this ledger.
 */
export async function sentElsewhere(
  db: Db | Trx,
  ids: readonly bigint[],
  account: ServiceAccount,
): Promise<Map<bigint, Origin>> {
  const foreign = await unseenOrigins(db, account);
  const sends = await sendsOf(db, ids, foreign);
  const [any] = foreign.values();
  const elsewhere = new Map<bigint, Origin>();
  for (const { id, origin_id, unseen_sends } of sends) {
    const origin = origin_id === null ? undefined : foreign.get(origin_id);
    if (origin) elsewhere.set(id, origin);
    else if (unseen_sends > 0n && any && !elsewhere.has(id)) elsewhere.set(id, any);
  }
  return elsewhere;
}

/**
 * Returns those of these payouts that certainly never reached this account, with their origin (P31). Every
 * attempt that may have been taken went elsewhere; where none may, every attempt that was sent did. A payout
 * that a lost copy may have sent (P25) is never among them.
 */
export async function sentOnlyElsewhere(
  db: Db | Trx,
  ids: readonly bigint[],
  account: ServiceAccount,
): Promise<Map<bigint, Origin>> {
  return sentOnlyTo(db, ids, await unseenOrigins(db, account));
}

/**
 * Returns payouts as {@link sentOnlyElsewhere} does, but only where another key was used. What is signed with
 * a key of this account cannot be about them. Addresses do not count, since no signature names one.
 */
export async function sentWithOtherKeys(
  db: Db | Trx,
  ids: readonly bigint[],
  account: ServiceAccount,
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

/** Loads every attempt of these payouts that left this machine, or a row without one; empty without foreign origins. */
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
    .where('payouts.id', 'in', idList(ids))
    .execute();
}

/** Returns the origins of other accounts of which this account has shown nothing. */
async function unseenOrigins(db: Db | Trx, account: ServiceAccount): Promise<Map<bigint, Origin>> {
  const origins = await db.selectFrom('origins').selectAll().execute();
  const own: bigint[] = [];
  const foreign = new Map<bigint, Origin>();
  for (const { id, base_url, secret_key, order_key } of origins) {
    const origin = { baseUrl: base_url, secretKey: secret_key, orderKey: order_key };
    if (isOfAccount(origin, account)) own.push(id);
    else foreign.set(id, origin);
  }
  if (foreign.size === 0) return foreign;
  const same = await db
    .selectFrom('same_accounts')
    .select('sent_as')
    .where('asked_as', 'in', idList(own))
    .execute();
  for (const { sent_as } of same) foreign.delete(sent_as);
  return foreign;
}

/** Returns the ids of {@link unseenOrigins}; empty where no account is configured. */
export async function foreignOrigins(db: Db | Trx, account: ServiceAccount | null): Promise<bigint[]> {
  return account ? [...(await unseenOrigins(db, account)).keys()] : [];
}

async function usedOf(db: Db | Trx, origins: Map<bigint, Origin>): Promise<[bigint, Origin][]> {
  const used: [bigint, Origin][] = [];
  for (const [id, origin] of origins) {
    const sent = db.selectFrom('attempts').where('origin_id', '=', id);
    if (await hasRow(sent)) used.push([id, origin]);
  }
  return used;
}

/**
 * Records that this account sees another origin's payouts: both are one account. The proof is a payout that
 * was sent and accepted only there, and that is shown here under the id of its acceptance. A reference alone
 * is no proof, since another order may bear it. `transferId`: the id that this account showed.
 */
export async function noteSameAccount(
  trx: Trx,
  { payout, transferId, at }: { payout: bigint; transferId: string | null; at: string },
  { account, originId: askedAs }: Standpoint,
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
    await insertSameAccount(trx, first.origin_id, { askedAs, at });
}

/** Does the same as {@link noteSameAccount} for the list of a run. Queries nothing where all attempts were sent from here. */
export async function noteSameAccounts(
  trx: Trx,
  run: string,
  { account, originId: askedAs }: Standpoint,
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
      // Ids alone prove nothing: each account may count from the same number.
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
    if (listed) await insertSameAccount(trx, origin, { askedAs, at });
  }
}

async function insertSameAccount(
  trx: Trx,
  origin: bigint,
  { askedAs, at }: { askedAs: bigint; at: string },
): Promise<void> {
  await trx
    .insertInto('same_accounts')
    .values({ asked_as: askedAs, sent_as: origin, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
