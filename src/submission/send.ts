import type { Outcome } from '../domain/outcome.ts';
import type { Mode } from '../domain/payout.ts';
import { type Claim, claim, findHalt, halt, sendable, tooManyUnknown } from '../ledger/claims.ts';
import type { Ledger } from '../ledger/open.ts';
import { type RecordEvent, record } from '../ledger/record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ServiceClient } from '../service/types.ts';

export type SenderDeps = {
  ledger: Ledger;
  clock: Clock;
  service: ServiceClient;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  workerId: string;
  rules: { mode: Mode; concurrency: number; sendDeadlineMs: number; haltAfterUnknown: number };
};

export type SendRequest = {
  /** Only these batches; all of the mode when absent. */
  batches?: readonly string[];
  signal?: AbortSignal;
  onProgress?: (done: number) => void;
};

/** Why the sender stopped. `drained`: nothing is left that it may send now. */
export type SendResult = {
  ended: 'drained' | 'halted' | 'interrupted' | 'unreachable' | 'stuck';
  counts: Record<Outcome['kind'], number>;
  detail: string;
};

type Done = { claim: Claim; outcome: Outcome };

const notSentLimit = 3;
const stuckMs = 60_000;

/**
 * Sends what is ready, each payout at most once per committed intent (P1). One transaction per turn carries the
 * outcomes that have come in and the intents for the slots they freed; no request starts before its intent's commit.
 */
export function createSender(deps: SenderDeps): { run(request?: SendRequest): Promise<SendResult> } {
  return { run: (request = {}) => runSender(deps, request) };
}

async function runSender(deps: SenderDeps, request: SendRequest): Promise<SendResult> {
  const { clock, rules } = deps;
  const inFlight = new Set<Promise<void>>();
  const done: Done[] = [];
  const counts = { accepted: 0, refused: 0, not_sent: 0, turned_away: 0, unknown: 0 };
  const state = {
    accepted: false,
    notSentInARow: 0,
    pausedUntil: 0,
    progressAt: clock.monotonic(),
    permits: 0,
  };
  let stop: { ended: SendResult['ended']; detail: string } | undefined;
  for (;;) {
    if (request.signal?.aborted) stop ??= { ended: 'interrupted', detail: 'interrupted; nothing is lost' };
    const slots = state.accepted ? rules.concurrency : 1;
    const free = stop || clock.now() < state.pausedUntil ? 0 : slots - inFlight.size;
    const permitted = free > 0 ? await takePermits(deps, state, free, done, inFlight, request.signal) : 0;
    const finished = done.splice(0);
    for (const { outcome } of finished) {
      counts[outcome.kind] += 1;
      noteOutcome(state, outcome, clock);
    }
    stop ??= verdict(state, clock, inFlight.size);
    const turn = await commitTurn(
      deps,
      finished,
      request.signal?.aborted || stop ? 0 : permitted,
      request.batches,
    );
    if (finished.length > 0) request.onProgress?.(finished.length);
    if (turn.halted) stop ??= { ended: 'halted', detail: turn.halted };
    const began = clock.monotonic();
    state.permits -= turn.claims.length;
    for (const claimed of turn.claims) launch(deps, claimed, began, inFlight, done);
    if (inFlight.size > 0) {
      await Promise.race(inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    if (done.length > 0) continue;
    if (stop) return { ...stop, counts };
    const wait =
      clock.now() < state.pausedUntil
        ? state.pausedUntil - clock.now()
        : await untilNext(deps, request.batches);
    if (wait === null) return { ended: 'drained', detail: '', counts };
    await clock.sleep(Math.min(wait, 1000), request.signal);
  }
}

type State = {
  accepted: boolean;
  notSentInARow: number;
  pausedUntil: number;
  progressAt: number;
  permits: number;
};

/** Takes rate permits for free slots, stopping early when an answer is waiting to be written down. */
async function takePermits(
  deps: SenderDeps,
  state: State,
  free: number,
  done: Done[],
  inFlight: Set<Promise<void>>,
  signal: AbortSignal | undefined,
): Promise<number> {
  while (state.permits < free && !signal?.aborted) {
    if (state.permits > 0 && (done.length > 0 || inFlight.size > 0)) break;
    await deps.limiter.take(signal);
    state.permits += 1;
  }
  return Math.min(state.permits, free);
}

function noteOutcome(state: State, outcome: Outcome, clock: Clock): void {
  if (outcome.kind === 'accepted') state.accepted = true;
  if (outcome.kind === 'accepted' || outcome.kind === 'refused') state.progressAt = clock.monotonic();
  state.notSentInARow = outcome.kind === 'not_sent' ? state.notSentInARow + 1 : 0;
  if (outcome.kind === 'turned_away') {
    state.pausedUntil = Math.max(state.pausedUntil, clock.now() + (outcome.retryAfterMs ?? 1000));
    state.progressAt = Math.max(state.progressAt, clock.monotonic() + (outcome.retryAfterMs ?? 0));
  }
}

function verdict(
  state: State,
  clock: Clock,
  inFlight: number,
): { ended: SendResult['ended']; detail: string } | undefined {
  if (state.notSentInARow >= notSentLimit) {
    return { ended: 'unreachable', detail: `${notSentLimit} requests in a row could not be sent` };
  }
  if (inFlight === 0 && clock.monotonic() - state.progressAt > stuckMs) {
    return { ended: 'stuck', detail: 'no progress for 60 seconds' };
  }
  return undefined;
}

/** One group commit: outcomes first, then the halt they may bring (P11), then intents for free slots (P1). */
async function commitTurn(
  deps: SenderDeps,
  finished: readonly Done[],
  free: number,
  batches: readonly string[] | undefined,
): Promise<{ claims: Claim[]; halted: string | null }> {
  if (finished.length === 0 && free <= 0) return { claims: [], halted: null };
  const { mode, haltAfterUnknown } = deps.rules;
  return deps.ledger.write(async (trx) => {
    const at = deps.clock.iso();
    const events = finished.map(
      ({ claim: { payoutId, attemptId }, outcome }): RecordEvent => ({
        payoutId,
        source: 'response',
        event: { kind: 'outcome', attemptId, outcome },
      }),
    );
    await record(trx, at, events);
    const cause = await haltCause(finished, () => tooManyUnknown(trx, mode, haltAfterUnknown));
    if (cause) await halt(trx, mode, cause, at);
    const halted = await findHalt(trx, mode);
    if (halted) return { claims: [], halted: halted.cause };
    const request = { mode, workerId: deps.workerId, limit: free, at, ...(batches ? { batches } : {}) };
    return { claims: await claim(trx, request), halted: null };
  });
}

async function haltCause(
  finished: readonly Done[],
  countUnknown: () => Promise<string | null>,
): Promise<string | null> {
  for (const { claim: claimed, outcome } of finished) {
    if (outcome.kind === 'unknown' && outcome.halts) {
      return `the service answered ${outcome.code} (${outcome.message}) to ${claimed.reference}`;
    }
  }
  return finished.some(({ outcome }) => outcome.kind === 'unknown') ? countUnknown() : null;
}

function launch(
  deps: SenderDeps,
  claimed: Claim,
  began: number,
  inFlight: Set<Promise<void>>,
  done: Done[],
): void {
  const wallBegan = deps.clock.now();
  const fresh = (): boolean => {
    const age = Math.max(deps.clock.monotonic() - began, Math.abs(deps.clock.now() - wallBegan));
    return age <= deps.rules.sendDeadlineMs;
  };
  const sent = deps.service.bankTransfer(claimed.body, claimed.reference, fresh).then((outcome) => {
    done.push({ claim: claimed, outcome });
    inFlight.delete(sent);
  });
  inFlight.add(sent);
}

/** Milliseconds until something may be sendable again; null when nothing is or a look-up must come first. */
async function untilNext(deps: SenderDeps, batches: readonly string[] | undefined): Promise<number | null> {
  const left = await sendable(deps.ledger.db, deps.rules.mode, batches);
  if (left.ready <= left.lookUpFirst) return null;
  return left.nextAt === null ? 0 : Math.max(0, Date.parse(left.nextAt) - deps.clock.now());
}
