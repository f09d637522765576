import type { Standpoint } from '../domain/origin.ts';
import { type Clock, elapsedSince, type Moment } from '../runtime/clock.ts';
import type { ServiceClient } from '../service/types.ts';
import { isLockConflict, PostgresFailure } from '../storage/failure.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { Brakes } from './brakes.ts';
import type { Scope } from './claim-request.ts';
import { type Claim, sendable } from './claims.sql.ts';
import { type AskService, type Clearances, createClearances } from './clearances.ts';
import { createFlight, type Done, type Flight, type Request } from './flight.ts';
import { createPermits, type Limiter } from './permits.ts';
import { createProgress, type Pause, type Progress, type Stop } from './progress.ts';
import { commitTurn } from './turn.ts';

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
  scope?: Scope;
  signal?: AbortSignal;
  onProgress?: (done: number) => void;
};

export type SendResult = Stop & { counts: Progress['counts'] };

/**
 * The wait when nothing could be claimed although something is ready: another process has it, or it is still loading.
 */
const idleMs = 50;

/**
 * Creates a sender of what is ready. It sends each payout at most once per committed intent (P1). One transaction per
 * turn carries the outcomes that have come in, and the intents for the slots that they freed. No request starts before
 * its intent is committed. While a group is on the wire of a service that answers soon, the next one is committed.
 */
export function createSender(deps: SenderDeps): { run(request?: SendRequest): Promise<SendResult> } {
  // Kept over runs: a Retry-After pauses all POSTs of the process, whichever run received it.
  const pause = { until: Number.NEGATIVE_INFINITY, acceptedAt: Number.NEGATIVE_INFINITY };
  return { run: (request = {}) => runSender(deps, request, pause) };
}

/** Runs the loop. When the ledger fails, waits for what is in flight and tries once more to write the answers (P12). */
async function runSender(deps: SenderDeps, request: SendRequest, pause: Pause): Promise<SendResult> {
  const flight = createFlight(deps.clock, deps.rules.concurrency, request.signal);
  const unwritten: Done[] = [];
  const { ledger, clock, askService } = deps;
  const { account } = deps.standpoint;
  const { brakes, concurrency } = deps.rules;
  const under = () => ({ brakes, at: clock.iso() });
  const { scope, signal } = request;
  const asking = { ledger, clock, account, askService, concurrency, under };
  const clearances = createClearances(asking, { scope, signal });
  try {
    return await loop(deps, request, pause, { flight, unwritten, clearances });
  } catch (error) {
    const answers = [...unwritten, ...(await flight.landed())];
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

/** `unwritten`: answers whose commit has not succeeded yet. */
type Journey = { flight: Flight; unwritten: Done[]; clearances: Clearances };

async function loop(
  deps: SenderDeps,
  request: SendRequest,
  pause: Pause,
  { flight, unwritten, clearances }: Journey,
): Promise<SendResult> {
  const { clock, rules } = deps;
  const { scope, signal } = request;
  // Under a rate limit an intent that waits would keep its permit from other processes.
  const ahead = deps.limiter.atOnce === Number.POSITIVE_INFINITY;
  const progress = createProgress({ clock, pause }, { ...rules, ahead });
  const permits = createPermits(deps, signal);
  let stop: Stop | undefined;
  for (;;) {
    if (signal?.aborted) stop ??= { ended: 'interrupted', detail: 'interrupted; nothing is lost' };
    const answers = flight.take();
    progress.note(answers);
    stop ??= progress.verdict(flight.underWay(), clearances.endedSomethingAt());
    // What waits behind an intent that grew too old is as old (P3).
    const isAged = answers.some(({ aged }) => aged);
    const mayBegin = !stop && !isAged && clock.monotonic() >= pause.until;
    const finished = mayBegin ? answers : [...answers, ...flight.recall()];
    unwritten.push(...finished);
    const slots = progress.mostOpen(answers) - flight.underWay() - flight.queued();
    const free = mayBegin ? slots : 0;
    const filling = permits.fill(free);
    // Twice the slots of a turn: while those are sent, the service is asked about the next.
    const asking = free > 0 ? clearances.fill(2 * slots) : undefined;
    if (filling && finished.length === 0 && flight.underWay() === 0) await filling;
    // After an interrupt while waiting for a permit: it was not granted, and nothing more begins.
    const claimable = signal?.aborted ? 0 : Math.min(free, permits.count());
    const turn = await commitTurn(deps, finished, { free: claimable, scope, cleared: clearances.fresh });
    unwritten.length = 0;
    if (answers.length > 0) request.onProgress?.(answers.length);
    if (turn.halted)
      stop ??= {
        ended: 'halted',
        detail: `halted: ${turn.halted.causes.map(({ kind }) => kind).join(', ')}`,
      };
    permits.spend(turn.claims.length);
    clearances.spend(turn.claims.map(({ payoutId }) => payoutId));
    if (stop && flight.queued() > 0) continue;
    if (mayBegin && !stop) flight.launch(turn.claims.map((one) => requestOf(deps, one, turn.began)));
    if (flight.underWay() > 0) {
      // Where less was ready than permitted, one more permit starts nothing.
      const isShort = turn.claims.length < turn.asked;
      const more = [isShort ? undefined : filling, slots > turn.claims.length ? asking : undefined];
      const either = more.filter((one) => one !== undefined);
      // Takes all answers that come in shortly after the first: a turn for many costs little more than one for a few.
      await flight.gathered(rules.concurrency, either.length > 0 ? Promise.race(either) : undefined);
      continue;
    }
    if (flight.waiting() + flight.queued() > 0) continue;
    if (stop) return { ...stop, detail: await explained(deps, stop), counts: progress.counts };
    if (asking) {
      await asking;
      continue;
    }
    const paused = pause.until - clock.monotonic();
    const next = await untilNext(deps, scope, clearances);
    if (next.kind === 'over') return { ended: next.ended, detail: next.detail, counts: progress.counts };
    const wait = Math.max(paused, next.ms);
    await clock.sleep(Math.min(Math.max(wait, idleMs), 1000), signal);
  }
}

/** Adds to `stuck` which database sessions hold locks: payouts that they have locked are skipped. */
async function explained({ ledger }: SenderDeps, { ended, detail }: Stop) {
  const holders = ended === 'stuck' ? await ledger.session?.holders() : '';
  return holders ? `${detail}: ${holders}` : detail;
}

function requestOf(deps: SenderDeps, claim: Claim, began: Moment): Request {
  const { clock, rules, ledger, service } = deps;
  let aged = false;
  const fresh = (): boolean => {
    aged = elapsedSince(clock, began) > rules.sendDeadlineMs;
    // Another process may have considered this one dead, and made the attempt unknown.
    return !aged && !ledger.session?.lost();
  };
  return {
    claim,
    async send() {
      const outcome = await service.bankTransfer(claim.body, claim.reference, fresh);
      const tookMs = elapsedSince(clock, began);
      return { claim, outcome, begun: true, aged: aged && outcome.kind === 'not_sent', tookMs };
    },
  };
}

type Next = { kind: 'in'; ms: number } | { kind: 'over'; ended: 'drained' | 'stuck'; detail: string };

/** Returns when something may be sendable again, or why nothing will be in this run. */
async function untilNext(deps: SenderDeps, scope: Scope | undefined, clearances: Clearances): Promise<Next> {
  const { brakes } = deps.rules;
  const left = await sendable(deps.ledger.db, { ...scope, brakes, at: deps.clock.iso() });
  const until = (at: string | null): number => (at === null ? 0 : Date.parse(at) - deps.clock.now());
  const rest = clearances.restMs();
  const waits = [
    ...(left.ready > left.again ? [until(left.nextAt)] : []),
    ...(left.again > 0 && left.againAt !== null ? [until(left.againAt)] : []),
    ...(left.again > 0 && left.againAt === null && rest !== null ? [rest] : []),
  ];
  if (waits.length > 0) return { kind: 'in', ms: Math.max(0, Math.min(...waits)) };
  if (left.again === 0) return { kind: 'over', ended: 'drained', detail: '' };
  const detail = `a payout that was sent before, or pays another again, needs a clear answer of the service first: ${clearances.unanswered()} of ${left.again} got none`;
  return { kind: 'over', ended: 'stuck', detail };
}
