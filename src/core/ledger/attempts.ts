import { sql } from 'kysely';
import { type AttemptOutcome, mayHaveBeenTaken } from '../domain/outcome.ts';
import type { LedgerEvent } from '../domain/transition.ts';
import { overRows } from '../storage/bound-rows.ts';
import { idsText, isOneOf } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { Attempt } from '../storage/tables/tables.ts';
import { giveBackUses } from './limit-uses.ts';

/** An attempt; its outcome is null while the POST is in flight. */
export type TriedAttempt = Pick<Attempt, 'id' | 'payout_id' | 'began_at' | 'outcome'>;
/** The end of an attempt. `outcome` null: its process died first. `before`: what a late answer replaces. */
export type Ended = { id: bigint; before: string | null; outcome: AttemptOutcome | null; why: string };

const selectAttempts = prepared<TriedAttempt>((db, slot) =>
  db
    .selectFrom('attempts')
    .select(['id', 'payout_id', 'began_at', 'outcome'])
    .where(isOneOf(sql.ref('payout_id'), slot(0)))
    .orderBy('id'),
);

/** Loads the attempts of these payouts, in their order. */
export async function loadAttempts(trx: Trx, ids: readonly bigint[]): Promise<Map<bigint, TriedAttempt[]>> {
  const own = new Map<bigint, TriedAttempt[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return own;
  for (const attempt of await selectAttempts(trx, [idsText(ids)])) own.get(attempt.payout_id)?.push(attempt);
  return own;
}

/** When the first of these attempts began that is not proven not sent (P7); null where nothing ever left. */
export function firstSentAt(ofPayout: readonly TriedAttempt[]): string | null {
  return ofPayout.find(({ outcome }) => outcome !== 'not_sent')?.began_at ?? null;
}

/** Ends an attempt by compare-and-set (P4). Only an attempt in flight ends, or an unknown one by a late answer. */
export function endAttempt(
  ofPayout: readonly TriedAttempt[] | undefined,
  ended: Ended[],
  event: Extract<LedgerEvent, { kind: 'outcome' | 'abandoned' }>,
): boolean {
  const attempt = ofPayout?.find((a) => a.id === event.attemptId);
  if (!attempt) return false;
  if (attempt.outcome !== null && (event.kind === 'abandoned' || attempt.outcome !== 'unknown')) return false;
  const { id, outcome: before } = attempt;
  if (event.kind === 'abandoned') {
    ended.push({ id, before, outcome: null, why: event.why });
    attempt.outcome = 'unknown';
  } else {
    ended.push({ id, before, outcome: event.outcome, why: event.outcome.message });
    attempt.outcome = event.outcome.kind;
  }
  return true;
}

const updateEnded = overRows(
  ['id', 'outcome', 'http_status', 'code', 'message', 'transfer_id', 'raw'],
  1,
  ({ rows, text, integer, shared }) => sql`update attempts
    set ended_at = ${shared(0)}, outcome = ${text('outcome')},
      http_status = ${integer('http_status')}, code = ${text('code')}, message = ${text('message')},
      transfer_id = ${text('transfer_id')}, raw = ${text('raw')}
    from ${rows} where attempts.id = ${integer('id')}`,
);

const insertBegun = overRows(
  ['payout_id', 'number'],
  5,
  ({ rows, integer, shared }) => sql<{ id: bigint; payout_id: bigint }>`insert into attempts
      (payout_id, number, worker_id, began_at, day_id, origin_id, clock_off_ms)
    select ${integer('payout_id')}, ${integer('number')}, ${shared(0)}, ${shared(1)}, cast(${shared(2)} as bigint),
      cast(${shared(3)} as bigint), cast(${shared(4)} as bigint)
    from ${rows} where ${integer('payout_id')} is not null
    returning id, payout_id`,
);

/** What attempts have in common. `clockOffMs`: our clock less the service's at `at`, in ms; null: not known. */
type Begun = { workerId: string; at: string; dayId: bigint; originId: bigint; clockOffMs: number | null };

/** Inserts an attempt of each payout with its number and origin. Returns their ids by payout. */
export async function beginAttempts(
  trx: Trx,
  { workerId, at, dayId, originId, clockOffMs }: Begun,
  numbered: readonly { payout_id: bigint; number: bigint }[],
): Promise<Map<bigint, bigint>> {
  const off = clockOffMs === null ? null : BigInt(Math.round(clockOffMs));
  const begun = await insertBegun(trx, [workerId, at, dayId, originId, off], numbered);
  return new Map(begun.map(({ id, payout_id }) => [payout_id, id]));
}

/** Writes the outcomes of attempts. Gives amounts that were not taken back to their day's limit (P21). */
export async function endAttempts(trx: Trx, at: string, ended: Ended[]): Promise<void> {
  if (ended.length === 0) return;
  const rows = ended.map(({ id, outcome, why }) => ({
    id,
    outcome: outcome?.kind ?? 'unknown',
    http_status:
      outcome && 'httpStatus' in outcome && outcome.httpStatus !== null ? BigInt(outcome.httpStatus) : null,
    code: outcome === null ? 'abandoned' : 'code' in outcome ? outcome.code : null,
    message: why,
    transfer_id: outcome?.kind === 'accepted' ? outcome.transferId : null,
    raw: outcome && 'raw' in outcome ? outcome.raw.slice(0, 4096) : null,
  }));
  await updateEnded(trx, [at], rows);
  const proven = ended.filter(({ outcome }) => outcome !== null && !mayHaveBeenTaken(outcome.kind));
  const ids = proven.map(({ id }) => id);
  await giveBackUses(trx, ids);
}
