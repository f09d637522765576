import { sql } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import { findBarrier } from './barriers.ts';
import { field, rowsOf } from './bulk.ts';
import type { Db, Trx } from './open.ts';
import { record } from './record.ts';
import { withhold } from './withheld.ts';

/** One payout with a committed intent: it may be POSTed once, under this attempt (P1). */
export type Claim = { payoutId: bigint; attemptId: bigint; reference: string; body: string };

/** What may be claimed: only these batches, only these payouts; everything of the mode when absent. */
export type Scope = { batches?: readonly string[]; payouts?: readonly bigint[] };

export type ClaimRequest = Scope & { mode: Mode; workerId: string; limit: number; at: string };

/**
 * Moves up to `limit` ready payouts to `sending` with an attempt each. Everything is checked against the ledger again
 * here: mode, halt, hold, not-before, a look-up that must come first (P2). Nothing may be sent before the commit.
 */
export async function claim(trx: Trx, request: ClaimRequest): Promise<Claim[]> {
  if (request.limit <= 0 || (await findHalt(trx, request.mode))) return [];
  await assertNotTakenOver(trx, request.workerId);
  let query = trx
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select([
      'payouts.id',
      'payouts.reference',
      'payouts.body',
      'payouts.attempt_count',
      'payouts.successor_of',
    ])
    .where('payouts.mode', '=', request.mode)
    .where('payouts.state', '=', 'ready')
    .where('payouts.look_up_first', '=', 0n)
    .where((eb) => eb.or([eb('payouts.not_before', 'is', null), eb('payouts.not_before', '<=', request.at)]))
    .where('batches.phase', '=', 'loaded')
    .where('batches.mode', '=', request.mode)
    .orderBy('payouts.id')
    .limit(request.limit);
  if (request.batches) query = query.where('payouts.batch_id', 'in', [...request.batches]);
  if (request.payouts) query = query.where('payouts.id', 'in', [...request.payouts]);
  const ready = await withhold(trx, request.mode, await query.execute(), request.at);
  if (ready.length === 0) return [];
  const attempts = await sql<{ id: bigint; payout_id: bigint }>`
    insert into attempts (payout_id, number, worker_id, began_at)
    select ${field('payout_id')}, ${field('number')}, ${request.workerId}, ${request.at}
    from ${rowsOf(ready.map((p) => ({ payout_id: p.id, number: p.attempt_count + 1n })))} as row
    returning id, payout_id`.execute(trx);
  const attemptOf = new Map(attempts.rows.map((a) => [a.payout_id, a.id]));
  const claims = ready.flatMap(({ id, reference, body }) => {
    const attemptId = attemptOf.get(id);
    return attemptId === undefined ? [] : [{ payoutId: id, attemptId, reference, body }];
  });
  const intents = claims.map(({ payoutId, attemptId }) => ({
    payoutId,
    source: request.workerId,
    event: { kind: 'intent' as const, attemptId },
  }));
  await record(trx, request.at, intents);
  return claims;
}

/** Others took this process for dead (P3): it must stop, and a new one may begin. */
export class TakenOver extends Error {}

/** P3: a process that others took for dead has lost its claims and makes no new ones. */
async function assertNotTakenOver(trx: Trx, workerId: string): Promise<void> {
  const ended = await trx
    .selectFrom('workers')
    .select('ended_at')
    .where('id', '=', workerId)
    .where('ended_at', 'is not', null)
    .executeTakeFirst();
  if (ended)
    throw new TakenOver(
      `another process took over worker ${workerId}, because its lock was free: it sends nothing more; start it again`,
    );
}

/** What still keeps the sender busy: payouts it could send now, later, or after a look-up. */
export async function sendable(
  db: Db,
  mode: Mode,
  only: Scope = {},
): Promise<{ ready: number; lookUpFirst: number; nextAt: string | null }> {
  let query = db
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select((eb) => [
      eb.fn.countAll<bigint>().as('ready'),
      eb.fn.sum<bigint | null>('payouts.look_up_first').as('look_up_first'),
      sql<string | null>`min(case when look_up_first = 0 then coalesce(not_before, '') end)`.as('next_at'),
    ])
    .where('payouts.mode', '=', mode)
    .where('payouts.state', '=', 'ready')
    .where('batches.phase', '=', 'loaded');
  if (only.batches) query = query.where('payouts.batch_id', 'in', [...only.batches]);
  if (only.payouts) query = query.where('payouts.id', 'in', [...only.payouts]);
  const row = await query.executeTakeFirstOrThrow();
  return {
    ready: Number(row.ready),
    lookUpFirst: Number(row.look_up_first ?? 0n),
    nextAt: row.next_at || null,
  };
}

/** Turns the open attempts of a dead worker into unknown outcomes: it may have sent them (P3). Returns how many. */
export async function abandonClaims(trx: Trx, workerId: string, at: string): Promise<number> {
  const open = await trx
    .selectFrom('attempts')
    .select(['id', 'payout_id'])
    .where('worker_id', '=', workerId)
    .where('outcome', 'is', null)
    .execute();
  const why = 'the sending process died before the answer was recorded';
  const events = open.map(({ id, payout_id }) => ({
    payoutId: payout_id,
    source: 'takeover',
    event: { kind: 'abandoned' as const, attemptId: id, why },
  }));
  await record(trx, at, events);
  return open.length;
}

export type Halt = { mode: Mode; cause: string; at: string };

/** Why nothing of a mode may be sent, if so: a barrier of the ledger itself (P25, P26), or the halt in force (P11). */
export async function findHalt(db: Db | Trx, mode: Mode): Promise<Halt | undefined> {
  const barrier = await findBarrier(db, mode);
  if (barrier) return { mode, ...barrier };
  return db.selectFrom('halts').selectAll().where('mode', '=', mode).executeTakeFirst();
}

/** Stops all sending of a mode until a person releases it; the first cause stands. */
export async function halt(trx: Trx, mode: Mode, cause: string, at: string): Promise<void> {
  await trx
    .insertInto('halts')
    .values({ mode, cause, at })
    .onConflict((c) => c.column('mode').doNothing())
    .execute();
}

/** Lifts a halt; unknowns from before the release no longer count towards the next one. */
export async function liftHalt(trx: Trx, mode: Mode, at: string): Promise<Halt | undefined> {
  const lifted = await trx.deleteFrom('halts').where('mode', '=', mode).returningAll().executeTakeFirst();
  const row = await trx
    .selectFrom('history')
    .select((eb) => eb.fn.max<bigint | null>('id').as('last'))
    .executeTakeFirst();
  const value = `${row?.last ?? 0n} ${at}`;
  await trx
    .insertInto('meta')
    .values({ key: `released_at:${mode}`, value })
    .onConflict((c) => c.column('key').doUpdateSet({ value }))
    .execute();
  return lifted;
}

/**
 * Whether unknown outcomes are too many (P11): the last `inARow` of the mode, or a fifth of the last 50, in order of
 * completion since the last release. Attempts of processes that died are not answers and do not count.
 */
export async function tooManyUnknown(trx: Trx, mode: Mode, inARow: number): Promise<string | null> {
  if (inARow === 0) return null;
  const released = await trx
    .selectFrom('meta')
    .select('value')
    .where('key', '=', `released_at:${mode}`)
    .executeTakeFirst();
  // By the ledger's own order, not by times: a clock that was set back must not hide what came after.
  const since = /^(\d+) /.exec(released?.value ?? '')?.[1] ?? '0';
  const last = await trx
    .selectFrom('history')
    .select('event as outcome')
    .where('source', '=', 'response')
    .where('id', '>', BigInt(since))
    .where(
      (eb) => eb.selectFrom('payouts').select('mode').whereRef('payouts.id', '=', 'history.payout_id'),
      '=',
      mode,
    )
    .orderBy('id', 'desc')
    .limit(50)
    .execute();
  const row = last.slice(0, inARow);
  if (row.length === inARow && row.every((a) => a.outcome === 'unknown'))
    return `${inARow} unknown outcomes in a row`;
  const unknown = last.filter((a) => a.outcome === 'unknown').length;
  return last.length === 50 && unknown >= 10 ? `${unknown} of the last 50 outcomes are unknown` : null;
}
