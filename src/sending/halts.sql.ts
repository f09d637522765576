import { findBarrier } from '../ledger/barriers.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { releaseCanaries } from './canaries.sql.ts';
import { type HaltCause, type HaltKind, readHaltKinds } from './halt.ts';

/** A halt in force; `cause` joins its causes, `kinds` are theirs in the same order. */
export type Halt = { cause: string; at: string; kinds: HaltKind[] };

const haltOf = prepared<{ cause: string; at: string; kinds: string }>((db) =>
  db.selectFrom('halts').select(['cause', 'at', 'kinds']),
);

/** Why nothing may be sent, if so: a barrier of the ledger itself (P25, P26), or the halt in force (P11). */
export async function findHalt(db: Db | Trx): Promise<Halt | undefined> {
  const barrier = await findBarrier(db);
  if (barrier) return { ...barrier, kinds: ['barrier'] };
  const [row] = await haltOf(db, []);
  return row && { ...row, kinds: readHaltKinds(row.kinds) };
}

/** Between the causes of one halt; whoever lifts one of them leaves the others in force. */
const also = '; also: ';

/** Stops all sending until a person releases it. A further cause joins those before it; the time is the first's. */
export async function halt(trx: Trx, cause: HaltCause, at: string): Promise<void> {
  const causes = await causesOf(trx);
  if (causes.some((one) => one.cause === cause.cause)) return;
  const all = joined([...causes, cause]);
  await trx
    .insertInto('halts')
    .values({ id: 1n, at, ...all })
    .onConflict((c) => c.column('id').doUpdateSet(all))
    .execute();
}

async function causesOf(trx: Trx): Promise<HaltCause[]> {
  const row = (await haltOf(trx, []))[0];
  if (!row) return [];
  const kinds = readHaltKinds(row.kinds);
  // Only the service's own words could hold the separator.
  return row.cause.split(also).map((cause, i) => ({ cause, kind: kinds[i] ?? 'account' }));
}

function joined(causes: readonly HaltCause[]): { cause: string; kinds: string } {
  return {
    cause: causes.map(({ cause }) => cause).join(also),
    kinds: causes.map(({ kind }) => kind).join(' '),
  };
}

/**
 * Lifts a halt; unknowns from before the release no longer count towards the next one. The batches whose canary failed
 * go on too: whoever lifts it lets the rest of them go.
 */
export async function liftHalt(trx: Trx, at: string): Promise<Halt | undefined> {
  await releaseCanaries(trx);
  return dropHalt(trx, at);
}

/**
 * Lets the rest of one batch go whose canary failed, and lifts the halt where that failure is its whole cause; what else
 * halts the mode stays in force. Returns the failure, and whether the halt went with it.
 */
export async function liftCanary(
  trx: Trx,
  batch: string,
  at: string,
): Promise<{ cause: string; halt: boolean } | undefined> {
  const [cause] = await releaseCanaries(trx, batch);
  if (cause === undefined) return undefined;
  const others = (await causesOf(trx)).filter((one) => one.cause !== cause);
  if (others.length > 0) {
    await trx.updateTable('halts').set(joined(others)).execute();
    return { cause, halt: false };
  }
  return { cause, halt: (await dropHalt(trx, at)) !== undefined };
}

async function dropHalt(trx: Trx, at: string): Promise<Halt | undefined> {
  const lifted = await trx.deleteFrom('halts').returning(['cause', 'at', 'kinds']).executeTakeFirst();
  const row = await trx
    .selectFrom('history')
    .select((eb) => eb.fn.max<bigint | null>('id').as('last'))
    .executeTakeFirst();
  const value = `${row?.last ?? 0n} ${at}`;
  await trx
    .insertInto('meta')
    .values({ key: 'released_at', value })
    .onConflict((c) => c.column('key').doUpdateSet({ value }))
    .execute();
  return lifted && { ...lifted, kinds: readHaltKinds(lifted.kinds) };
}

/**
 * Whether unknown outcomes are too many (P11): the last `inARow`, or a fifth of the last 50, in order of
 * completion since the last release. Attempts of processes that died are not answers and do not count.
 */
export async function tooManyUnknown(trx: Trx, inARow: number): Promise<string | null> {
  if (inARow === 0) return null;
  const released = await trx
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'released_at')
    .executeTakeFirst();
  // By the ledger's own order, not by times: a clock that was set back must not hide what came after.
  const since = /^(\d+) /.exec(released?.value ?? '')?.[1] ?? '0';
  const last = await trx
    .selectFrom('history')
    .select('event as outcome')
    .where('source', '=', 'response')
    .where('id', '>', BigInt(since))
    .orderBy('id', 'desc')
    .limit(50)
    .execute();
  const row = last.slice(0, inARow);
  if (row.length === inARow && row.every((a) => a.outcome === 'unknown'))
    return `${inARow} unknown outcomes in a row`;
  const unknown = last.filter((a) => a.outcome === 'unknown').length;
  return last.length === 50 && unknown >= 10 ? `${unknown} of the last 50 outcomes are unknown` : null;
}
