import { sql } from 'kysely';
import { ladderDelayMs } from '../domain/ladder.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { PayoutState } from '../domain/payout.ts';
import { type Effect, type PayoutEvent, type Standing, transition } from '../domain/transition.ts';
import { field, rowsOf } from './bulk.ts';
import { chainEntry, insertHistory } from './history.ts';
import { askDetails } from './inquiries.ts';
import type { Trx } from './open.ts';
import type { Payout } from './tables.ts';

export type RecordEvent = { payoutId: bigint; source: string; event: PayoutEvent };
export type Recorded = { payoutId: bigint; from: PayoutState; to: PayoutState; effect: Effect };

type Row = Pick<Payout, (typeof columns)[number]>;
type Open = { id: bigint; payout_id: bigint; outcome: string | null };

const columns = [
  'id',
  'batch_id',
  'state',
  'evidence',
  'attempt_count',
  'last_attempt_id',
  'transfer_id',
  'trx',
  'fee',
  'message',
  'submitted_at',
  'settled_at',
  'final_at',
  'look_up_first',
  'not_before',
  'history_seq',
  'history_head',
] as const;
const finals: readonly PayoutState[] = ['success', 'failed', 'returned'];

/**
 * The sole writer of payout state: loads, asks `transition`, then writes projection, attempt, history, the next
 * question and the batch's version, all in the caller's transaction. Events of one payout apply in their order.
 * An outcome that its attempt already has, or that another outcome decided, changes nothing (P4).
 */
export async function record(trx: Trx, at: string, events: readonly RecordEvent[]): Promise<Recorded[]> {
  if (events.length === 0) return [];
  const ids = [...new Set(events.map((e) => e.payoutId))];
  const rows = new Map((await loadPayouts(trx, ids)).map((row) => [row.id, { ...row }]));
  const open = await loadOpenAttempts(trx, events);
  const recorded: Recorded[] = [];
  const entries: ReturnType<typeof chainEntry>[] = [];
  const ended: { id: bigint; outcome: Outcome | null; why: string }[] = [];
  for (const { payoutId, source, event } of events) {
    const row = rows.get(payoutId);
    if (!row) throw new Error(`no payout ${payoutId} in this ledger`);
    if (
      (event.kind === 'outcome' || event.kind === 'abandoned') &&
      !endAttempt(open.get(payoutId), ended, event)
    )
      continue;
    const effect = transition(standing(row, event, open), event);
    const from = row.state;
    const changed = apply(row, event, effect, at);
    const entry = chainEntry(row.history_head, {
      payoutId,
      seq: row.history_seq + 1n,
      at,
      event: eventName(event),
      source,
      from,
      to: row.state,
      detail: { ...changed, ...(effect.kind === 'move' ? {} : { [effect.kind]: effect.why }) },
    });
    row.history_seq += 1n;
    row.history_head = entry.hash;
    entries.push(entry);
    recorded.push({ payoutId, from, to: row.state, effect });
  }
  if (recorded.length === 0) return recorded;
  const touched = new Set(recorded.map((r) => r.payoutId));
  await endAttempts(trx, at, ended);
  await updatePayouts(
    trx,
    at,
    [...rows.values()].filter((row) => touched.has(row.id)),
  );
  await insertHistory(trx, entries);
  await askNext(trx, at, recorded, rows);
  return recorded;
}

/** The first history entry of freshly inserted payouts. */
export async function recordIntake(
  trx: Trx,
  at: string,
  payouts: readonly { id: bigint; state: PayoutState }[],
  detail: { batch: string },
): Promise<void> {
  const entries = payouts.map(({ id, state }) =>
    chainEntry('', {
      payoutId: id,
      seq: 1n,
      at,
      event: 'intake',
      source: 'intake',
      from: null,
      to: state,
      detail,
    }),
  );
  await insertHistory(trx, entries);
  const heads = entries.map((entry, i) => ({ id: payouts[i]?.id ?? 0n, head: entry.hash }));
  await sql`update payouts set history_seq = 1, history_head = ${field('head')} from ${rowsOf(heads)} as row
    where payouts.id = ${field('id')}`.execute(trx);
}

async function loadPayouts(trx: Trx, ids: readonly bigint[]): Promise<Row[]> {
  const wanted = sql<bigint>`(select value from json_each(${`[${ids.join(',')}]`}))`;
  return trx.selectFrom('payouts').select(columns).where('id', 'in', wanted).execute();
}

/** Attempts that may have been taken, of the payouts whose attempts end now. */
async function loadOpenAttempts(trx: Trx, events: readonly RecordEvent[]): Promise<Map<bigint, Open[]>> {
  const ids = events
    .filter((e) => e.event.kind === 'outcome' || e.event.kind === 'abandoned')
    .map((e) => e.payoutId);
  const open = new Map<bigint, Open[]>();
  if (ids.length === 0) return open;
  const wanted = sql<bigint>`(select value from json_each(${`[${ids.join(',')}]`}))`;
  const rows = await trx
    .selectFrom('attempts')
    .select(['id', 'payout_id', 'outcome'])
    .where('payout_id', 'in', wanted)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', 'in', ['accepted', 'unknown'])]))
    .execute();
  for (const row of rows) open.set(row.payout_id, [...(open.get(row.payout_id) ?? []), row]);
  return open;
}

/** Compare-and-set on the attempt: only one that is under way, or a late word on an unknown one, may end (P4). */
function endAttempt(
  ofPayout: readonly Open[] | undefined,
  ended: { id: bigint; outcome: Outcome | null; why: string }[],
  event: Extract<PayoutEvent, { kind: 'outcome' | 'abandoned' }>,
): boolean {
  const attempt = ofPayout?.find((a) => a.id === event.attemptId);
  if (!attempt) return false;
  if (attempt.outcome !== null && (event.kind === 'abandoned' || attempt.outcome === 'accepted'))
    return false;
  if (event.kind === 'abandoned') {
    ended.push({ id: attempt.id, outcome: null, why: event.why });
    attempt.outcome = 'unknown';
  } else {
    ended.push({ id: attempt.id, outcome: event.outcome, why: event.outcome.message });
    attempt.outcome = event.outcome.kind;
  }
  return true;
}

function standing(row: Row, event: PayoutEvent, open: Map<bigint, Open[]>): Standing {
  const own = event.kind === 'outcome' || event.kind === 'abandoned' ? event.attemptId : null;
  const others = (open.get(row.id) ?? []).filter(
    (a) => a.id !== own && (a.outcome === null || a.outcome === 'accepted' || a.outcome === 'unknown'),
  );
  return {
    state: row.state,
    evidence: row.evidence,
    attemptCount: Number(row.attempt_count),
    otherAttemptOpen: others.length > 0,
    transferId: row.transfer_id,
  };
}

/** Applies the effect to the row in memory and returns the fields that changed, for the history. */
function apply(row: Row, event: PayoutEvent, effect: Effect, at: string): Record<string, unknown> {
  const before = { ...row };
  if (effect.kind === 'move') row.state = effect.to;
  if (effect.kind !== 'conflict') {
    row.evidence = effect.evidence;
    learn(row, before.state, event, at);
  }
  if (effect.kind === 'move' && finals.includes(effect.to)) row.final_at = at;
  const changed: Record<string, unknown> = {};
  for (const key of columns) {
    const value = row[key];
    if (value !== before[key] && key !== 'state')
      changed[key] = typeof value === 'bigint' ? Number(value) : value;
  }
  return changed;
}

function learn(row: Row, from: PayoutState, event: PayoutEvent, at: string): void {
  switch (event.kind) {
    case 'intent':
      row.attempt_count += 1n;
      row.last_attempt_id = event.attemptId;
      row.submitted_at ??= at;
      return;
    case 'outcome':
      learnOutcome(row, event.outcome, at);
      return;
    case 'witness': {
      const { witness } = event;
      row.transfer_id ??= witness.transferId;
      row.trx ??= witness.trx;
      row.fee = witness.fee ?? row.fee;
      // What a lost answer said is no longer the news once someone has seen the transfer.
      row.message = witness.message ?? (from === 'unknown' ? null : row.message);
      row.look_up_first = 0n;
      if (finals.includes(row.state) && witness.status === row.state)
        row.settled_at ??= witness.settledAt ?? at;
      return;
    }
    case 'looked_up':
      row.look_up_first = 0n;
      return;
    case 'abandoned':
      row.message = event.why;
      return;
    case 'hold':
    case 'release':
      return;
  }
}

function learnOutcome(row: Row, outcome: Outcome, at: string): void {
  row.message = outcome.message;
  if (outcome.kind === 'accepted') row.transfer_id ??= outcome.transferId;
  if (outcome.kind === 'turned_away') {
    row.look_up_first = 1n;
    row.not_before = outcome.retryAfterMs === null ? null : later(at, outcome.retryAfterMs);
  }
}

async function endAttempts(
  trx: Trx,
  at: string,
  ended: { id: bigint; outcome: Outcome | null; why: string }[],
): Promise<void> {
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
  await sql`update attempts set ended_at = ${at}, outcome = ${field('outcome')}, http_status = ${field('http_status')},
      code = ${field('code')}, message = ${field('message')}, transfer_id = ${field('transfer_id')}, raw = ${field('raw')}
    from ${rowsOf(rows)} as row where attempts.id = ${field('id')}`.execute(trx);
}

async function updatePayouts(trx: Trx, at: string, rows: Row[]): Promise<void> {
  await sql`update payouts set state = ${field('state')}, evidence = ${field('evidence')},
      attempt_count = ${field('attempt_count')}, last_attempt_id = ${field('last_attempt_id')},
      transfer_id = ${field('transfer_id')}, trx = ${field('trx')}, fee = ${field('fee')}, message = ${field('message')},
      submitted_at = ${field('submitted_at')}, settled_at = ${field('settled_at')}, final_at = ${field('final_at')},
      look_up_first = ${field('look_up_first')}, not_before = ${field('not_before')},
      history_seq = ${field('history_seq')}, history_head = ${field('history_head')}, updated_at = ${at}
    from ${rowsOf(rows)} as row where payouts.id = ${field('id')}`.execute(trx);
  const batches = JSON.stringify([...new Set(rows.map((row) => row.batch_id))]);
  await sql`update batches set version = version + 1 where id in (select value from json_each(${batches}))`.execute(
    trx,
  );
}

/** What must be asked next: an unknown climbs the ladder (P19), a rejection is looked up before the next POST (P8). */
async function askNext(trx: Trx, at: string, recorded: Recorded[], rows: Map<bigint, Row>): Promise<void> {
  const due: Record<string, string | bigint>[] = [];
  const closed: bigint[] = [];
  for (const { payoutId, from, to } of recorded) {
    const row = rows.get(payoutId);
    if (to === 'unknown' && from !== 'unknown') {
      due.push({ payout_id: payoutId, reason: 'unknown outcome', due_at: later(at, ladderDelayMs(0)) });
    } else if (row?.look_up_first === 1n) {
      due.push({ payout_id: payoutId, reason: 'turned away', due_at: at });
    }
    if (finals.includes(to) && !finals.includes(from)) closed.push(payoutId);
  }
  await askDetails(trx, due);
  if (closed.length > 0) {
    await sql`update inquiries set outcome = 'superseded', answered_at = ${at}
      where outcome is null and kind = 'details' and asked_at is null
        and payout_id in (select value from json_each(${`[${closed.join(',')}]`}))`.execute(trx);
  }
}

function eventName(event: PayoutEvent): string {
  if (event.kind === 'outcome') return event.outcome.kind;
  if (event.kind === 'witness') return `${event.witness.source} says ${event.witness.status}`;
  return event.kind;
}

function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}
