import { type Selectable, sql } from 'kysely';
import { longestPauseMs } from '../../core/domain/pause.ts';
import { later, remainingMs } from '../../core/domain/wait.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { AlertChannel } from '../../core/storage/tables/alert-tables.ts';
import type { Tables } from '../../core/storage/tables/tables.ts';
import { type Content, readContent } from './message.ts';

type Stored = Selectable<Tables['alert_messages']>;

/** A message that this process has claimed. `tries` counts the coming one. */
export type Claimed = { id: bigint; content: Content; madeAt: string; tries: number };

/** So many sent messages are kept. */
const kept = 1000n;
/** So many messages leave as one. */
const mostAtOnce = 50;

/** Puts one message for each channel into the outbox, `at` ISO UTC. A second one about the same run is left out. */
export async function addMessages(
  trx: Trx,
  channels: readonly AlertChannel[],
  { content, run, at }: { content: Content; run: string | null; at: string },
): Promise<void> {
  const stamps = { made_at: at, due_at: at, noted_at: at };
  for (const channel of channels) {
    const row = { channel, content: JSON.stringify(content), run_id: run, state: 'due' as const, ...stamps };
    await trx
      .insertInto('alert_messages')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const { newest } = await trx
    .selectFrom('alert_messages')
    .select((eb) => eb.fn.max<bigint | null>('id').as('newest'))
    .executeTakeFirstOrThrow();
  await trx
    .deleteFrom('alert_messages')
    .where('id', '<=', (newest ?? 0n) - kept)
    .where('state', '<>', 'due')
    .execute();
}

/** Those of these channels that have no message about the run yet. */
export async function channelsWithout(
  db: Db,
  channels: readonly AlertChannel[],
  run: string,
): Promise<AlertChannel[]> {
  const rows = await db.selectFrom('alert_messages').select('channel').where('run_id', '=', run).execute();
  return channels.filter((channel) => rows.every((row) => row.channel !== channel));
}

/**
 * Claims what is due on a channel, oldest first, so that no other process sends it. What a dead process had claimed is
 * free: it may have been sent already. Waits written by a clock that was ahead are counted from now on (P33).
 */
export async function claimMessages(
  trx: Trx,
  { channel, by, nowMs }: { channel: AlertChannel; by: string; nowMs: number },
): Promise<Claimed[]> {
  const rows = await free(trx, channel, by);
  const at = new Date(nowMs).toISOString();
  for (const row of rows.filter(({ noted_at }) => noted_at > at))
    await setOne(trx, row.id, { due_at: later(at, leftMs(row, nowMs)), noted_at: at });
  const due = rows.filter((row) => leftMs(row, nowMs) === 0).slice(0, mostAtOnce);
  for (const { id, tries } of due) await setOne(trx, id, { claimed_by: by, tries: tries + 1n });
  return due.map(({ id, content, made_at: madeAt, tries }) => {
    return { id, content: readContent(content), madeAt, tries: Number(tries) + 1 };
  });
}

/** Whether a claim would find something, or has a wait to correct. */
export async function hasDue(
  db: Db,
  { channel, by, nowMs }: { channel: AlertChannel; by: string; nowMs: number },
): Promise<boolean> {
  const rows = await free(db, channel, by);
  return rows.some((row) => leftMs(row, nowMs) === 0 || Date.parse(row.noted_at) > nowMs);
}

/** A process sends through one channel at a time: a claim of its own is left from a try that broke off. */
function free(db: Db | Trx, channel: AlertChannel, by: string): Promise<Stored[]> {
  return db
    .selectFrom('alert_messages')
    .selectAll()
    .where('state', '=', 'due')
    .where('channel', '=', channel)
    .where(isFree(by))
    .orderBy('id')
    .execute();
}

/** True for a row that no other living process has claimed. */
export function isFree(by: string) {
  return sql<boolean>`(claimed_by is null or claimed_by = ${by}
    or claimed_by not in (select w.id from workers w where w.ended_at is null))`;
}

function leftMs({ due_at, noted_at }: Stored, nowMs: number): number {
  const left = remainingMs({ untilMs: Date.parse(due_at), notedMs: Date.parse(noted_at) }, nowMs);
  return Math.min(left, longestPauseMs);
}

async function setOne(trx: Trx, id: bigint, values: Partial<Stored>): Promise<void> {
  await trx.updateTable('alert_messages').set(values).where('id', '=', id).execute();
}

/** How a try ended. `pauseMs`: the wait before the next one; null: there is none. */
export type TryEnd =
  | { kind: 'sent' }
  | { kind: 'failed'; problem: string; pauseMs(tries: number): number | null };

/** Records how a try ended, where the claim is still this process's. A success lets the channel's other messages go. */
export async function finishMessages(
  trx: Trx,
  claimed: readonly Claimed[],
  { channel, by, at, end }: { channel: AlertChannel; by: string; at: string; end: TryEnd },
): Promise<void> {
  for (const { id, tries } of claimed) {
    await trx
      .updateTable('alert_messages')
      .set({ claimed_by: null, ...valuesOf(end, tries, at) })
      .where('id', '=', id)
      .where('claimed_by', '=', by)
      .execute();
  }
  if (end.kind === 'failed') return;
  await trx
    .updateTable('alert_messages')
    .set({ due_at: at, noted_at: at })
    .where('state', '=', 'due')
    .where('channel', '=', channel)
    .execute();
}

function valuesOf(end: TryEnd, tries: number, at: string): Partial<Stored> {
  if (end.kind === 'sent') return { state: 'sent', ended_at: at, problem: null };
  const pauseMs = end.pauseMs(tries);
  if (pauseMs === null) return { state: 'gave_up', ended_at: at, problem: end.problem };
  return { due_at: later(at, pauseMs), noted_at: at, problem: end.problem };
}

/** Gives back a claim whose sending was broken off: the try does not count. */
export async function giveBackMessages(trx: Trx, claimed: readonly Claimed[], by: string): Promise<void> {
  for (const { id, tries } of claimed) {
    await trx
      .updateTable('alert_messages')
      .set({ claimed_by: null, tries: BigInt(tries - 1) })
      .where('id', '=', id)
      .where('claimed_by', '=', by)
      .execute();
  }
}

/** Gives up the messages of channels that the configuration no longer has. */
export async function giveUpOthers(trx: Trx, channels: readonly AlertChannel[], at: string): Promise<void> {
  const given = trx
    .updateTable('alert_messages')
    .set({ state: 'gave_up', ended_at: at, problem: 'channel_off', claimed_by: null })
    .where('state', '=', 'due');
  await (channels.length === 0 ? given : given.where('channel', 'not in', [...channels])).execute();
}
