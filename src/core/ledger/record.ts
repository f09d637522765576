import { sql } from 'kysely';
import { historyEvent } from '../domain/history-event.ts';
import { ladderDelayMs } from '../domain/ladder.ts';
import { mayHaveBeenTaken } from '../domain/outcome.ts';
import { isFinalState, type PayoutState } from '../domain/payout.ts';
import { type Effect, type LedgerEvent, type PayoutStanding, transition } from '../domain/transition.ts';
import { later } from '../domain/wait.ts';
import { overRows } from '../storage/bound-rows.ts';
import { idsIn, idsText } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { unshownIds } from './answered-ids.ts';
import {
  type Ended,
  endAttempt,
  endAttempts,
  firstSentAt,
  loadAttempts,
  type TriedAttempt,
} from './attempts.ts';
import { wentBack } from './barriers.ts';
import { tellBatches } from './batch-events.ts';
import { type CameBack, holdReplacements, isBack } from './came-back.ts';
import { chainEntry, historyHashes, insertHistory } from './history.ts';
import { askDetails, type LookUpWanted } from './inquiries.ts';
import { apply, type RecordEvent, type Row } from './projection.ts';
import { type Changed, type CountedRow, loadRows, writeRows } from './projection-rows.ts';
import { beginTotals, countEnded } from './totals.ts';

export type Recorded = { payoutId: bigint; from: PayoutState; to: PayoutState; effect: Effect };

/**
 * The sole writer of payout state. It loads payouts and asks `transition`. Then it writes projection,
 * attempts, history, next look-ups and the version of the batch, all in the caller's transaction. Events of
 * one payout apply in order. An outcome changes nothing when its attempt already has one, except a late
 * answer to an unknown attempt (P4). `known`: the payouts as the same transaction has just read them.
 */
export async function record(
  trx: Trx,
  at: string,
  events: readonly RecordEvent[],
  known?: readonly CountedRow[],
): Promise<Recorded[]> {
  if (events.length === 0) return [];
  const stored = known ?? (await loadRows(trx, [...new Set(events.map((e) => e.payoutId))]));
  const rows = new Map(stored.map((row) => [row.id, { ...row }]));
  const attempts = await loadAttempts(trx, decidedByAttempts(events, rows));
  const asksFall = events.some(({ event: { kind } }) => asksPast.includes(kind));
  const forgetful = asksFall && (await wentBack(trx));
  const unshown = await unshownIds(trx, events, rows);
  const recorded: Recorded[] = [];
  const entries: ReturnType<typeof chainEntry>[] = [];
  const ended: Ended[] = [];
  const back: CameBack[] = [];
  for (const one of events) {
    const { payoutId, source, event } = one;
    const row = rows.get(payoutId);
    if (!row) throw new Error(`no payout ${payoutId} in this ledger`);
    // The payout's batch is still loading. An entry before its first would keep intake from ever finishing it (P23).
    if (row.state === 'held' && row.history_seq === 0n) continue;
    if (
      (event.kind === 'outcome' || event.kind === 'abandoned') &&
      !endAttempt(attempts.get(payoutId), ended, event)
    )
      continue;
    const other = unshown.get(one);
    const now = {
      ...standing(row, event, attempts),
      forgetful,
      ...(other !== undefined && { unshown: other }),
    };
    const effect = transition(now, event);
    const from = row.state;
    const sentAt = firstSentAt(attempts.get(payoutId) ?? []);
    const changed = apply(row, now, { event, effect, at, sentAt });
    const entry = chainEntry(row.history_head, {
      payoutId,
      seq: row.history_seq + 1n,
      at,
      event: historyEvent(event),
      source,
      from,
      to: row.state,
      detail: { ...changed, ...(effect.kind === 'move' ? {} : { [effect.kind]: effect.why }) },
    });
    row.history_seq += 1n;
    row.history_head = entry.hash;
    entries.push(entry);
    recorded.push({ payoutId, from, to: row.state, effect });
    if (isBack(event, { from, to: row.state, effect }))
      back.push({ payoutId, said: historyEvent(event), seq: row.history_seq });
  }
  if (recorded.length === 0) return recorded;
  const touched = new Set(recorded.map((r) => r.payoutId));
  const changed = stored.flatMap((before): Changed[] => {
    const after = touched.has(before.id) ? rows.get(before.id) : undefined;
    return after ? [{ before, after }] : [];
  });
  await endAttempts(trx, at, ended);
  await countEnded(trx, ended);
  const turned = await writeRows(trx, at, changed);
  await insertHistory(trx, entries);
  await holdReplacements(trx, back);
  if (turned.length > 0) await tellBatches(trx, at, turned);
  await askNext(trx, at, recorded);
  return recorded;
}

/** Events that a ledger which went back in time may not conclude from (P25). */
const asksPast: readonly LedgerEvent['kind'][] = ['witness', 'turned', 'settle'];

/** Writes the first history entry of new payouts, which gives them their first state. */
export async function recordIntake(
  trx: Trx,
  at: string,
  payouts: readonly { id: bigint; state: PayoutState }[],
  /**
   * `bodies`, or a successor's own `body`: digests of the frozen bodies, so that the chain covers them too (P2, P27).
   */
  detail: { batch: string; bodies?: string; body?: string },
): Promise<void> {
  const text = JSON.stringify(detail);
  const first = { seq: 1n, at, event: 'intake' as const, source: 'intake', from: null, detail: text };
  for (const [to, own] of Map.groupBy(payouts, (payout) => payout.state)) {
    const hashOf = historyHashes({ ...first, to });
    const heads = own.map(({ id }) => ({ id, head: hashOf('', id) }));
    await startHistory(trx, { at, to, detail: text }, heads);
  }
  await tellBatches(trx, at, [detail.batch]);
}

/** Returns the payouts whose attempts decide what an event does (P4, P17, P21). */
function decidedByAttempts(events: readonly RecordEvent[], rows: Map<bigint, Row>): bigint[] {
  const sends = (row?: Row): bigint => (row ? row.attempt_count + row.unseen_sends : 0n);
  const asks = ({ payoutId, event }: RecordEvent): boolean =>
    event.kind === 'outcome' ||
    event.kind === 'abandoned' ||
    event.kind === 'cancel' ||
    event.kind === 'adopted' ||
    event.kind === 'doubted' ||
    event.kind === 'settle' ||
    ((event.kind === 'witness' || event.kind === 'turned') && sends(rows.get(payoutId)) > 1n);
  return events.filter(asks).map((e) => e.payoutId);
}

function standing(
  row: Row,
  event: LedgerEvent,
  attempts: Map<bigint, TriedAttempt[]>,
): Omit<PayoutStanding, 'forgetful'> {
  const own = event.kind === 'outcome' || event.kind === 'abandoned' ? event.attemptId : null;
  const taken = (attempts.get(row.id) ?? []).filter(({ outcome }) => mayHaveBeenTaken(outcome));
  const other = taken.filter((a) => a.id !== own);
  const others = other.length + Number(row.unseen_sends);
  return {
    state: row.state,
    evidence: row.evidence,
    isNeverSent: row.submitted_at === null && row.unseen_sends === 0n,
    otherAttemptOpen: others > 0,
    otherUnderWay: other.some((a) => a.outcome === null),
    // Attempts are loaded only where there may be several. A single one counts as possibly taken.
    possiblyTaken:
      (attempts.has(row.id) ? taken.length : Number(row.attempt_count)) + Number(row.unseen_sends),
    forgotten: row.unseen_sends > 0n,
  };
}

const supersede = prepared<never>(
  (_, slot) => sql`update inquiries set outcome = 'superseded', answered_at = ${slot(0)}
    where outcome is null and kind = 'details' and asked_at is null and payout_id in ${idsIn(slot(1))}`,
);

/** Schedules the first look-up of payouts that became unknown (P19), and closes those of payouts that became final. */
async function askNext(trx: Trx, at: string, recorded: Recorded[]): Promise<void> {
  const due: LookUpWanted[] = [];
  const closed: bigint[] = [];
  for (const { payoutId, from, to } of recorded) {
    if (to === 'unknown' && from !== 'unknown') {
      const dueAt = later(at, ladderDelayMs(0));
      due.push({ payout_id: payoutId, reason: 'unknown', due_at: dueAt, rung_due_at: dueAt });
    }
    if (isFinalState(to) && !isFinalState(from)) closed.push(payoutId);
  }
  await askDetails(trx, due);
  if (closed.length > 0) await supersede(trx, [at, idsText(closed)]);
}

/** Inserts first entries, which differ only in payout and hash. */
const insertFirst = overRows(
  ['id', 'head'],
  3,
  ({ rows, text, integer, shared }) => sql`insert into history
      (at, to_state, detail, payout_id, seq, event, source, from_state, hash)
    select ${shared(0)}, ${shared(1)}, ${shared(2)}, ${integer('id')}, 1, 'intake', 'intake', null, ${text('head')}
    from ${rows} where ${text('head')} is not null`,
);

const beginRows = overRows(
  ['id', 'head'],
  1,
  ({ rows, text, integer, shared }) => sql`update payouts
    set state = ${shared(0)}, history_seq = 1, history_head = ${text('head')}
    from ${rows} where payouts.id = ${integer('id')}`,
);

/** Writes the first history entry of payouts, with the payouts' first state and the head of their history. */
async function startHistory(
  trx: Trx,
  { at, to, detail }: { at: string; to: PayoutState; detail: string },
  heads: readonly { id: bigint; head: string }[],
): Promise<void> {
  await insertFirst(trx, [at, to, detail], heads);
  await beginRows(trx, [to], heads);
  const ids = heads.map(({ id }) => id);
  await beginTotals(trx, to, ids);
}
