import { createHash } from 'node:crypto';
import type { PayoutState } from '../domain/payout.ts';
import type { Db, Trx } from './open.ts';
import { recordIntake } from './record.ts';
import type { NewPayout, Payout } from './tables.ts';

const chunk = 500;

/** The first payout of the chain that each payout belongs to, and how many payments the chain has up to it. */
export async function chainsOf(
  db: Db | Trx,
  payouts: readonly Payout[],
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
      .where('id', 'in', wanted)
      .execute();
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const chain of chains.values()) {
      const row = chain.before === null ? undefined : found.get(chain.before);
      if (!row) continue;
      chain.root = row.reference;
      chain.length += 1;
      chain.before = row.successor_of;
    }
  }
}

export type NewSuccessor = NewPayout & { state: PayoutState; successor_of: bigint };

/**
 * Adds successors with the first entry of their history; returns their ids by reference. Throws SQLite's unique error
 * when a reference is taken or a payout has a successor already (P20, P22).
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
  return ids;
}

/** The references of the payouts before and after this one in its chain. */
export async function neighboursOf(
  db: Db,
  payout: Payout,
): Promise<{ predecessor: string | null; successor: string | null }> {
  const query = db.selectFrom('payouts').select('reference');
  const before =
    payout.successor_of === null
      ? undefined
      : await query.where('id', '=', payout.successor_of).executeTakeFirst();
  const after = await query.where('successor_of', '=', payout.id).executeTakeFirst();
  return { predecessor: before?.reference ?? null, successor: after?.reference ?? null };
}
