import type { Advice } from '../core/domain/advice.ts';
import type { Standpoint } from '../core/domain/origin.ts';
import type { AttemptOutcome } from '../core/domain/outcome.ts';
import type { RecordEvent } from '../core/ledger/projection.ts';
import { record } from '../core/ledger/record.ts';
import { type Clock, elapsedSince, type Moment, momentOf } from '../core/runtime/clock.ts';
import type { ServiceClient } from '../core/service/types.ts';
import { isLockConflict, PostgresFailure } from '../core/storage/failure.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { Brakes } from './brakes.ts';
import type { ClaimScope, Cleared } from './claim-request.ts';
import { type Claim, claimUnlessHalted, sendable } from './claims.sql.ts';
import { referencesFor } from './clearance-answers.sql.ts';
import { type AskService, type Clearances, createClearances } from './clearances.ts';
import { createFlight, type EndedIntent, type Flight, type KeptBack } from './flight.ts';
import { type Halt, type HaltCause, haltKindOf } from './halt.ts';
import { halt, tooManyUnknown } from './halts.sql.ts';
import { holdReturned } from './holds.sql.ts';
import { createPermits, type Limiter } from './permits.ts';
import { createProgress, noPause, type PostPause, type StopCause } from './progress.ts';

export type SenderDeps = {
  ledger: Ledger;
  clock: Clock;
  service: ServiceClient;
  limiter: Limiter;
  workerId: string;
  /** Where it sends, and how it asks about what was sent before (P31). */
  standpoint: Standpoint;
  askService: AskService;
  rules: {
    concurrency: number;
    sendDeadlineMs: number;
    haltAfterUnknown: number;
    brakes: Brakes;
  };
};

export type SendRequest = {
  /** All when absent. */
  scope?: ClaimScope;
  signal?: AbortSignal;
  onProgress?: (done: number) => void;
};

export type SenderStop = StopCause & { counts: Record<AttemptOutcome['kind'], number> };

/**
 * The wait when nothing could be claimed although something is ready: another process has it, or it is still loading.
 */
const idleMs = 50;

/**
 * Creates a sender of what is ready. It sends each payout at most once per committed intent (P1). One transaction per
 * turn carries the outcomes that have come in, and the intents for the slots that they freed. No request starts before
 * its intent is committed.
 */
export function createSender(deps: SenderDeps): { run(request?: SendRequest): Promise<SenderStop> } {
  // Kept over runs: a Retry-After pauses all POSTs of the process, whichever run received it.
  const pause = noPause();
  const parts = { ...deps, begun: new Set<string>() };
  return { run: (request = {}) => runSender(parts, request, pause) };
}

/** `begun`: the batches of which this process has claimed payouts, over all runs. */
type SenderParts = SenderDeps & { begun: Set<string> };

/** Runs the loop. When the ledger fails, waits for what is in flight and tries once more to write the answers (P12). */
async function runSender(deps: SenderParts, request: SendRequest, pause: PostPause): Promise<SenderStop> {
  const flight = createFlight(deps.clock);
  const { ledger, clock, askService } = deps;
  const { account } = deps.standpoint;
  const { brakes, concurrency } = deps.rules;
  const under = () => ({ brakes, at: clock.iso(), serviceNow: deps.service.serviceNow() });
  const { scope, signal } = request;
  const asking = { ledger, clock, account, askService, concurrency, under };
  const clearances = createClearances(asking, { scope, signal });
  try {
    return await loop(deps, request, pause, { flight, clearances });
  } catch (error) {
    const answers = await flight.landed();
    const none = { free: 0, scope, cleared: () => new Map() };
    const isWritten = await commitTurn(deps, answers, none).then(
      () => true,
      () => false,
    );
    if (isWritten || !isLockConflict(error)) throw error;
    // The process must stop. If it lived on, its attempts would stay under way for ever; now others make them unknown.
    throw new PostgresFailure('ANSWERS_LOST', `answers could not be written: ${error.message}`, error);
  } finally {
    await clearances.ended();
  }
}

type Journey = { flight: Flight; clearances: Clearances };

async function loop(
  deps: SenderParts,
  request: SendRequest,
  pause: PostPause,
  { flight, clearances }: Journey,
): Promise<SenderStop> {
  const { clock } = deps;
  const counts = { accepted: 0, refused: 0, not_sent: 0, turned_away: 0, unknown: 0 };
  const progress = createProgress(deps, pause);
  const permits = createPermits(deps, request.signal);
  const pausedMs = (): number => Math.max(pause.until - clock.monotonic(), deps.service.orderPauseMs());
  let stop: StopCause | undefined;
  for (;;) {
    if (request.signal?.aborted) stop ??= { ended: 'interrupted' };
    const finished = flight.take();
    for (const { outcome } of finished) counts[outcome.kind] += 1;
    progress.note(finished, clearances.endedSomethingAt());
    stop ??= progress.verdict(flight.underWay());
    if (stop) flight.stop();
    const slots = progress.slots() - flight.underWay();
    const free = stop || pausedMs() > 0 ? 0 : slots;
    const filling = permits.fill(free);
    // Twice the slots of a turn: while those are sent, the service is asked about the next.
    const asking = free > 0 ? clearances.fill(2 * slots) : undefined;
    if (filling && finished.length === 0 && flight.underWay() === 0) await filling;
    // After an interrupt while waiting for a permit: it was not granted, and nothing more begins.
    const claimable = request.signal?.aborted ? 0 : Math.min(free, permits.count());
    const intents = { free: claimable, scope: request.scope, cleared: clearances.fresh };
    const turn = await commitTurn(deps, finished, intents);
    flight.written();
    if (finished.length > 0) request.onProgress?.(finished.length);
    if (turn.halted) {
      flight.stop();
      stop ??= { ended: 'halted', by: turn.halted.causes.map(({ kind }) => kind) };
    }
    permits.spend(turn.claims.length);
    clearances.spend(turn.claims.map(({ payoutId }) => payoutId));
    const may = (): boolean => flight.mayBegin() && pausedMs() <= 0;
    for (const claimed of turn.claims) flight.launch(post(deps, claimed, { began: turn.began, may }));
    if (flight.underWay() > 0) {
      // Where less was ready than permitted, one more permit starts nothing.
      const isShort = turn.claims.length < turn.asked;
      const more = [isShort ? undefined : filling, slots > turn.claims.length ? asking : undefined];
      const either = more.filter((one) => one !== undefined);
      // Takes all answers that come in shortly after the first: a turn for many costs little more than one for a few.
      await flight.gathered(deps.rules.concurrency, either.length > 0 ? Promise.race(either) : undefined);
      continue;
    }
    if (flight.answered() > 0) continue;
    if (stop) return { ...(await explained(deps, stop)), counts };
    if (asking) {
      await asking;
      continue;
    }
    const paused = pausedMs();
    const next = await untilNext(deps, request.scope, clearances);
    if (next.kind === 'over') return { ...next.why, counts };
    const wait = Math.max(paused, next.ms);
    await clock.sleep(Math.min(Math.max(wait, idleMs), 1000), request.signal);
  }
}

/** Adds to `stuck` which database sessions hold locks: payouts that they have locked are skipped. */
async function explained({ ledger }: SenderDeps, stop: StopCause): Promise<StopCause> {
  const holders = stop.ended === 'stuck' ? await ledger.session?.holders() : '';
  return stop.ended === 'stuck' && holders ? { ...stop, holders } : stop;
}

/** What a turn may claim; `cleared` is read inside its transaction, however long that had to wait. */
type Intents = { free: number; scope: ClaimScope | undefined; cleared: () => Cleared };

/** Makes one group commit: outcomes first, then the halt they may cause (P11), then intents for free slots (P1). */
async function commitTurn(
  deps: SenderParts,
  finished: readonly EndedIntent[],
  { free, scope, cleared }: Intents,
): Promise<{ claims: Claim[]; halted: Halt | null; asked: number; began: Moment }> {
  const { clock } = deps;
  const none = { claims: [], halted: null, asked: 0, began: momentOf(clock) };
  if (finished.length === 0 && free <= 0) return none;
  const { haltAfterUnknown, brakes } = deps.rules;
  return deps.ledger.write(async (trx) => {
    // P3: an intent's age counts from here, inside its transaction: a wait for another process's commit does not count.
    const began = momentOf(clock);
    const at = clock.iso();
    const events = finished.map(
      ({ claim: { payoutId, attemptId }, outcome }): RecordEvent => ({
        payoutId,
        source: 'response',
        event: { kind: 'outcome', attemptId, outcome },
      }),
    );
    await holdReturned(trx, at, await record(trx, at, events));
    const cause = await haltCause(finished, () => tooManyUnknown(trx, haltAfterUnknown));
    if (cause) await halt(trx, cause, at);
    const serviceNow = deps.service.serviceNow();
    const clockOffMs = serviceNow == null ? null : clock.now() - serviceNow;
    const { originId } = deps.standpoint;
    const by = { workerId: deps.workerId, originId, clockOffMs, cleared: cleared(), begun: deps.begun };
    const request = { ...scope, ...by, brakes, limit: free, at, serviceNow };
    const { claims, halted: why } = await claimUnlessHalted(trx, request);
    return why === null ? { claims, halted: null, asked: free, began } : { ...none, halted: why };
  });
}

async function haltCause(
  finished: readonly EndedIntent[],
  countUnknown: () => Promise<HaltCause | null>,
): Promise<HaltCause | null> {
  for (const { claim: claimed, outcome } of finished) {
    if (outcome.kind === 'unknown' && outcome.halts) {
      const { code, message } = outcome;
      return { kind: haltKindOf(code), code, message, reference: claimed.reference };
    }
  }
  if (!finished.some(({ outcome }) => outcome.kind === 'unknown')) return null;
  return countUnknown();
}

const keptBackWords: Record<KeptBack, string> = {
  aged: 'its intent grew older than submission.send_deadline_ms before the request could begin',
  lost: 'the session with the database was lost before the request could begin',
  stopped: 'sending stopped before the request could begin',
};

/** Sends one payout, if that is still allowed in the tick in which the request would be written. */
async function post(
  deps: SenderDeps,
  claimed: Claim,
  { began, may }: { began: Moment; may: () => boolean },
): Promise<EndedIntent> {
  let keptBack: KeptBack | null = null;
  const mayBegin = (): boolean => {
    if (elapsedSince(deps.clock, began) > deps.rules.sendDeadlineMs) keptBack = 'aged';
    // Another process may have considered this one dead, and made the attempt unknown.
    else if (deps.ledger.session?.lost()) keptBack = 'lost';
    else keptBack = may() ? null : 'stopped';
    return keptBack === null;
  };
  const outcome = await deps.service.bankTransfer(claimed.body, claimed.reference, mayBegin, claimed.batch);
  if (keptBack === null || outcome.kind !== 'not_sent') return { claim: claimed, outcome, keptBack: null };
  return { claim: claimed, outcome: { kind: 'not_sent', message: keptBackWords[keptBack] }, keptBack };
}

type Next = { kind: 'in'; ms: number } | { kind: 'over'; why: StopCause };

/** Returns when something may be sendable again, or why nothing will be in this run. */
async function untilNext(
  deps: SenderDeps,
  scope: ClaimScope | undefined,
  clearances: Clearances,
): Promise<Next> {
  const { brakes } = deps.rules;
  const now = { at: deps.clock.iso(), serviceNow: deps.service.serviceNow() };
  const left = await sendable(deps.ledger.db, { ...scope, brakes, ...now });
  const until = (at: string | null): number => (at === null ? 0 : Date.parse(at) - deps.clock.now());
  const rest = clearances.restMs();
  const waits = [
    ...(left.ready > left.again ? [until(left.nextAt)] : []),
    ...(left.again > 0 && left.againAt !== null ? [until(left.againAt)] : []),
    ...(left.again > 0 && left.againAt === null && rest !== null ? [rest] : []),
  ];
  if (waits.length > 0) return { kind: 'in', ms: Math.max(0, Math.min(...waits)) };
  if (left.again === 0) return { kind: 'over', why: { ended: 'drained' } };
  const silent = clearances.unanswered();
  const first = await referencesFor(deps.ledger.db, silent.slice(0, 3));
  const by = { kind: 'unanswered' as const, count: silent.length, of: left.again, names: first };
  const [reference] = first;
  const advice: Advice = reference === undefined ? { kind: 'doctor' } : { kind: 'unanswered', reference };
  return { kind: 'over', why: { ended: 'stuck', by, advice } };
}
