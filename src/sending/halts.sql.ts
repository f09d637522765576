import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Insertable } from 'kysely';
import { findBarrier } from '../core/ledger/barriers.ts';
import { tell } from '../core/ledger/events.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import type { Tables } from '../core/storage/tables/tables.ts';
import { releaseCanary } from './canaries.sql.ts';
import { barrierHalt, type Halt, type HaltCause, type HaltKind, readHaltCause } from './halt.ts';

type Row = { id: bigint; at: string; batch_id: string | null; detail: string };

const standing = prepared<Row>((db) =>
  db.selectFrom('halts').select(['id', 'at', 'batch_id', 'detail']).orderBy('id'),
);

/** Tells a cause in force from every other one, an equal one that is raised later too. */
const markOf = ({ id, at, detail }: Row): string =>
  createHash('sha256').update(`${id} ${at} ${detail}`).digest('hex').slice(0, 16);

/** The marks of the causes in force, as a person sees them now: a release lifts no other. */
export async function haltMarks(db: Db | Trx): Promise<string[]> {
  return (await standing(db, [])).map(markOf);
}

/** The causes in force that are about a batch, each with its mark: the failure of its canary. */
export async function batchHalts(db: Db, batch: string): Promise<{ mark: string; cause: HaltCause }[]> {
  const own = (await standing(db, [])).filter(({ batch_id }) => batch_id === batch);
  return own.map((row) => ({ mark: markOf(row), cause: readHaltCause(row.detail) }));
}

/** Returns why nothing may be sent: a barrier of the ledger itself (P25, P26), or the halt in force (P11). */
export async function findHalt(db: Db | Trx): Promise<Halt | undefined> {
  const barrier = await findBarrier(db);
  if (barrier) return barrierHalt(barrier);
  return haltOf(await standing(db, []));
}

type HaltInForce = Halt & { causes: HaltCause[] };

/** Several causes are one halt, since the first of them. */
function haltOf(rows: readonly { at: string; detail: string }[]): HaltInForce | undefined {
  const [first] = rows;
  return first && { at: first.at, causes: rows.map(({ detail }) => readHaltCause(detail)) };
}

/** A cause in force since `at`, without the service's words. `reference`: the payout that it is about. */
export type StandingCause = { kind: HaltKind; at: string } & HaltSubject;
type HaltSubject = { batch: string | null; reference: string | null };

function aboutOf(cause: HaltCause): HaltSubject {
  const of = 'failure' in cause ? cause.failure : cause;
  return { batch: 'batch' in cause ? cause.batch : null, reference: 'reference' in of ? of.reference : null };
}

/** Returns every cause for which nothing may be sent. A barrier of the ledger ends none of the others. */
export async function findHaltCauses(db: Db | Trx): Promise<StandingCause[]> {
  const barrier = await findBarrier(db);
  const causes = (await standing(db, [])).map(({ at, detail }): StandingCause => {
    const cause = readHaltCause(detail);
    return { kind: cause.kind, at, ...aboutOf(cause) };
  });
  return barrier ? [barrierCause(barrier), ...causes] : causes;
}

/** A barrier as a cause beside the others. */
export function barrierCause({ at }: { at: string }): StandingCause {
  return { kind: 'barrier', at, batch: null, reference: null };
}

/**
 * Stops all sending until a person releases it. A further cause joins those before it. One that is raised again is
 * renewed: a release that saw it before does not lift it.
 */
export async function halt(trx: Trx, cause: HaltCause, at: string): Promise<void> {
  const known = (await standing(trx, [])).find(({ detail }) =>
    isDeepStrictEqual(readHaltCause(detail), cause),
  );
  await trx
    .insertInto('halts')
    .values(haltRow(cause, known?.at ?? at))
    .execute();
  if (known) await trx.deleteFrom('halts').where('id', '=', known.id).execute();
  else await tell(trx, at, [{ type: 'halt.raised', ...aboutOf(cause), data: { kind: cause.kind } }]);
}

/** A cause as the ledger keeps it. */
export function haltRow(cause: HaltCause, at: string): Insertable<Tables['halts']> {
  const batch_id = 'batch' in cause ? cause.batch : null;
  return { at, kind: cause.kind, batch_id, detail: JSON.stringify(cause) };
}

/** When it is lifted, ISO UTC. `seen`: the causes that the person saw, by `haltMarks`; without it, those in force. */
type Lift = { at: string; seen?: readonly string[] };

/**
 * Lifts the causes of a halt that the person saw, and returns them. Others stay in force. Where none stays, unknowns from
 * before the release no longer count towards the next halt. The release also covers the rest of the batches whose canary
 * failed.
 */
export async function liftHalt(trx: Trx, { at, seen }: Lift): Promise<Halt | undefined> {
  const all = await standing(trx, []);
  const lifted = all.filter((row) => seen === undefined || seen.includes(markOf(row)));
  const ids = lifted.map(({ id }) => id);
  await trx.deleteFrom('halts').where('id', 'in', idList(ids)).execute();
  for (const { batch_id } of lifted) if (batch_id !== null) await releaseCanary(trx, batch_id);
  if (lifted.length === all.length) await noteRelease(trx, at);
  const ended = haltOf(lifted);
  await tellLifted(trx, at, ended?.causes ?? []);
  return ended;
}

/**
 * Releases the rest of one batch whose canary failed, where the person saw that. Lifts the halt where that failure is its only cause; other causes
 * stay in force. Returns the failure, and whether the halt was lifted.
 */
export async function liftCanary(
  trx: Trx,
  batch: string,
  { at, seen }: Lift,
): Promise<{ causes: HaltCause[]; halt: boolean } | undefined> {
  const own = (await standing(trx, [])).filter(({ batch_id }) => batch_id === batch);
  if (seen && own.some((row) => !seen.includes(markOf(row)))) return undefined;
  if (!(await releaseCanary(trx, batch))) return undefined;
  await trx.deleteFrom('halts').where('batch_id', '=', batch).execute();
  const causes = own.map(({ detail }) => readHaltCause(detail));
  await tellLifted(trx, at, causes);
  const isLifted = (await standing(trx, [])).length === 0;
  if (isLifted) await noteRelease(trx, at);
  return { causes, halt: isLifted && own.length > 0 };
}

/** Tells programs that causes of a halt are lifted (P39). */
function tellLifted(trx: Trx, at: string, causes: readonly HaltCause[]): Promise<void> {
  const lifted = causes.map((cause) => {
    return { type: 'halt.lifted' as const, ...aboutOf(cause), data: { kind: cause.kind } };
  });
  return tell(trx, at, lifted);
}

/** Marks the point from which unknown outcomes count again from zero (P11). */
async function noteRelease(trx: Trx, at: string): Promise<void> {
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
}

/**
 * Returns a cause where unknown outcomes are too many (P11): the last `inARow`, or a fifth of the last 50, in order of
 * completion since the last release. Attempts of processes that died are not answers and do not count.
 */
export async function tooManyUnknown(trx: Trx, inARow: number): Promise<HaltCause | null> {
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
    // A request that never left is no answer: it must not part two that are unknown.
    .where('event', '<>', 'not_sent')
    .where('id', '>', BigInt(since))
    .orderBy('id', 'desc')
    .limit(50)
    .execute();
  const row = last.slice(0, inARow);
  if (row.length === inARow && row.every((a) => a.outcome === 'unknown'))
    return { kind: 'unknowns', count: inARow, of: inARow };
  const unknown = last.filter((a) => a.outcome === 'unknown').length;
  return last.length === 50 && unknown >= 10 ? { kind: 'unknowns', count: unknown, of: 50 } : null;
}
