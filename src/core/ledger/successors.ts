import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { cameToNothing, type PayoutState } from '../domain/payout.ts';
import { idList, integerField, rowsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { NewPayout, Payout } from '../storage/tables/tables.ts';
import { areHolding, type HoldReason } from './hold-reasons.ts';
import type { RecordEvent } from './projection.ts';
import { record, recordIntake } from './record.ts';
import { isNotPaidAgain } from './replaced.ts';

const chunk = 500;
const rowsAPage = 1000n;

/** A payout as a link of its chain. */
export type Link = Pick<Payout, 'id' | 'reference' | 'successor_of'>;

/**
 * What follows a payout in its chain. `successor`: the payout that pays it again. A successor that was cancelled was never
 * sent and pays nothing: `cancelled` is the last of those, where no other follows them. The next one succeeds it, so that
 * each payout has at most one (P20).
 */
export type After = { successor: string | null; cancelled: Link | null };

type Follower = Link & { first: bigint; state: PayoutState };

/** The payouts that follow each of these in its chain. The cross joins keep SQLite from reading all payouts. */
export function followersOf(ids: readonly bigint[]): RawBuilder<Follower> {
  return sql`
    with recursive line (first, id, depth) as (
      select successor_of, id, 1 from payouts where successor_of in ${idList(ids)}
      union all
      select line.first, s.id, line.depth + 1 from line cross join payouts p cross join payouts s
        where p.id = line.id and p.state = 'cancelled' and s.successor_of = p.id)
    select line.first, p.id, p.reference, p.successor_of, p.state from line cross join payouts p
    where p.id = line.id
    order by line.depth`;
}

/** Returns what follows each of these payouts, by id; nothing for one without a successor. */
export async function afterEach(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, After>> {
  if (ids.length === 0) return new Map();
  const { rows } = await followersOf(ids).execute(db);
  return new Map(
    rows.map(({ first, state, ...link }) => [
      first,
      state === 'cancelled'
        ? { successor: null, cancelled: link }
        : { successor: link.reference, cancelled: null },
    ]),
  );
}

/** Returns the first payout of each payout's chain, and the number of payments in the chain up to it. */
export async function chainsOf(
  db: Db | Trx,
  payouts: readonly Link[],
): Promise<Map<bigint, { root: string; length: number }>> {
  const chains = new Map(
    payouts.map((payout) => [payout.id, { root: payout.reference, length: 1, before: payout.successor_of }]),
  );
  for (;;) {
    const wanted = [...new Set([...chains.values()].flatMap(({ before }) => before ?? []))].slice(0, chunk);
    if (wanted.length === 0) return chains;
    const rows = await db
      .selectFrom('payouts')
      .select(['id', 'reference', 'successor_of'])
      .where('id', 'in', idList(wanted))
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const chain of chains.values()) {
      const row = chain.before === null ? undefined : byId.get(chain.before);
      if (!row) continue;
      chain.root = row.reference;
      chain.length += 1;
      chain.before = row.successor_of;
    }
  }
}

export type NewSuccessor = NewPayout & { state: PayoutState; successor_of: bigint };

/**
 * Inserts successors with the first entry of their history; returns their ids by reference. Throws the
 * database's unique error when a reference exists, or a payout has a successor already (P20, P22).
 */
export async function insertSuccessors(
  trx: Trx,
  at: string,
  rows: readonly { payout: NewSuccessor; predecessor: string; decidedBy: string; why: string }[],
): Promise<Map<string, bigint>> {
  const ids = new Map<string, bigint>();
  for (const { payout, predecessor, decidedBy, why } of rows) {
    const { id } = await trx.insertInto('payouts').values(payout).returning('id').executeTakeFirstOrThrow();
    const body = createHash('sha256').update(payout.body).digest('hex');
    const detail = { batch: payout.batch_id, body, successor_of: predecessor, decided_by: decidedBy, why };
    await recordIntake(trx, at, [{ id, state: payout.state }], detail);
    ids.set(payout.reference, id);
  }
  await keepValues(trx, [...ids.values()]);
  return ids;
}

/** Links rows of a loading batch as successors of payouts, by id (P20). Throws when one has another successor. */
export async function linkSuccessors(
  trx: Trx,
  batch: string,
  rows: readonly { row: number; of: bigint }[],
): Promise<void> {
  const texts = rows.map(({ row, of }) => ({ row: BigInt(row), of }));
  await sql`update payouts set successor_of = ${integerField('of')} from ${rowsOf(texts)} as row
    where payouts.batch_id = ${batch} and payouts.row_number = ${integerField('row')}`.execute(trx);
  const linked = trx
    .selectFrom('payouts')
    .select('id')
    .where('batch_id', '=', batch)
    .where('successor_of', 'is not', null);
  await keepValues(
    trx,
    (await linked.execute()).map(({ id }) => id),
  );
}

/** Gives successors the values that are unique in what they pay again, such as its invoice number. */
async function keepValues(trx: Trx, ids: readonly bigint[]): Promise<void> {
  await sql`insert into payout_values (column_key, value, payout_id)
    select v.column_key, v.value, s.id from payouts s cross join payout_values v
    where s.id in ${idList(ids)} and v.payout_id = s.successor_of
    on conflict do nothing`.execute(trx);
}

/**
 * Begins the history of a batch's rows that pay others again, and records the decision with their originals
 * (P20). `reasons`: those of the batch. It runs in the transaction that decides the batch, so that neither exists without the
 * other.
 */
export async function beginSuccessors(
  trx: Trx,
  at: string,
  batch: { id: string; bodies: string; reasons: readonly HoldReason[]; decidedBy: string },
  decided: readonly { row: number; of: bigint; predecessor: string; why: string }[],
): Promise<void> {
  const rows = await trx
    .selectFrom('payouts')
    .select(['id', 'row_number', 'reference', 'approval_needed'])
    .where('batch_id', '=', batch.id)
    .where('successor_of', 'is not', null)
    .orderBy('row_number')
    .execute();
  const free = rows.filter((row) => !areHolding(batch.reasons, row)).map(({ id }) => id);
  await trx.updateTable('payouts').set({ state: 'ready' }).where('id', 'in', idList(free)).execute();
  const byRow = new Map(rows.map((one) => [Number(one.row_number), one]));
  const events: RecordEvent[] = [];
  for (const { row, of, predecessor, why } of decided) {
    const successor = byRow.get(row);
    if (!successor) throw new Error(`row ${row} of ${batch.id} was not recorded`);
    const { id, reference } = successor;
    const state = areHolding(batch.reasons, successor) ? 'held' : 'ready';
    const order = { successor_of: predecessor, decided_by: batch.decidedBy, why };
    const detail = { batch: batch.id, bodies: batch.bodies, ...order };
    await recordIntake(trx, at, [{ id, state }], detail);
    const event = { kind: 'replaced' as const, by: `${reference}, ${why}` };
    events.push({ payoutId: of, source: batch.decidedBy, event });
  }
  await record(trx, at, events);
}

/**
 * Yields the payouts of a batch that failed, were refused or came back and are not paid again, in the order of its file.
 * Each page covers a fixed number of rows: one query over a million rows would block a webhook for long.
 */
export async function* unpaidOf(db: Db, batch: string): AsyncGenerator<Payout[]> {
  const { last } = await db
    .selectFrom('payouts')
    .select((eb) => eb.fn.max<bigint | null>('row_number').as('last'))
    .where('batch_id', '=', batch)
    .executeTakeFirstOrThrow();
  for (let row = 0n; last !== null && row <= last; row += rowsAPage) {
    const page = await db
      .selectFrom('payouts as p')
      .selectAll('p')
      .where('p.batch_id', '=', batch)
      .where('p.row_number', '>=', row)
      .where('p.row_number', '<', row + rowsAPage)
      .where('p.state', 'in', cameToNothing)
      .where(isNotPaidAgain)
      .orderBy('p.row_number')
      .orderBy('p.id')
      .execute();
    if (page.length > 0) yield page;
    await setImmediate();
  }
}

/**
 * Returns the payouts before and after this one in its chain, and how the next one stands; cancelled ones do not follow
 * it.
 */
export async function neighboursOf(
  db: Db,
  payout: Payout,
): Promise<{ predecessor: string | null; successor: string | null; successorState: PayoutState | null }> {
  const query = db.selectFrom('payouts').select(['reference', 'state']);
  const before =
    payout.successor_of === null
      ? undefined
      : await query.where('id', '=', payout.successor_of).executeTakeFirst();
  const after = (await afterEach(db, [payout.id])).get(payout.id);
  const successor = after?.successor ?? null;
  const now =
    successor === null ? undefined : await query.where('reference', '=', successor).executeTakeFirst();
  return { predecessor: before?.reference ?? null, successor, successorState: now?.state ?? null };
}
