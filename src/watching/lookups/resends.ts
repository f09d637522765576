import { longestPauseMs } from '../../core/domain/pause.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { LookUpReply, ServiceClient, ServiceTrouble } from '../../core/service/types.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { type EndpointPause, endStrikes, notePause, pauseOf } from './pauses.sql.ts';
import {
  claimResend,
  closeResend,
  type DueResend,
  nextDueRequest,
  postponeResend,
  type ResendSubject,
  reapResends,
  wantResends,
} from './resend-requests.sql.ts';

export type ResendDeps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'resendWebhook'>;
  /**
   * The throttle of the resend endpoints, which all processes on the ledger share: 0, or the ms until it allows a
   * request.
   */
  throttle: { tryTake(): Promise<number> };
  /** `receives`: webhooks can reach us. Otherwise none is requested, except by a person. */
  rules: { receives: boolean };
};

/** A request that was made, with the service's message. */
export type AskedFor = { reference: string; outcome: 'asked' | 'refused' | 'error'; message: string };

type Waiting = {
  signal?: AbortSignal;
  /** How long to wait for the throttle, in ms; 0: not at all. */
  forMs: number;
  /** Called before each wait, so that other work goes on. */
  meanwhile?: () => Promise<unknown>;
};

export type Resends = {
  /** Schedules requests for these payouts' webhooks and makes those that the throttle allows now. Returns how many. */
  ask(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<number>;
  /** The same for collections. */
  askCollections(ids: readonly bigint[], signal?: AbortSignal): Promise<number>;
  /** Makes all due requests, waiting for the throttle. Returns how many. */
  askDue(waiting: Waiting): Promise<number>;
  /** For a person: makes these requests now, whatever their budget. Those that the throttle holds back stay scheduled. */
  askFor(subjects: readonly ResendSubject[], waiting: Waiting): Promise<AskedFor[]>;
};

const longestSleepMs = 30_000;
const firstPauseMs = 60_000;
/** A request that began this long ago and never ended belongs to a dead process. */
const claimLimitMs = 5 * 60_000;

/** Resend requests (endpoints 6): targeted recovery, never polling. */
export function createResends(deps: ResendDeps): Resends {
  const { ledger, clock, service, throttle, rules } = deps;
  const pauseName = 'resends';
  const shifted = (ms: number): string => new Date(clock.now() + ms).toISOString();

  async function want(kind: ResendSubject['kind'], ids: readonly bigint[], now = false): Promise<void> {
    const reason = now ? 'person' : 'webhook missing';
    for (let from = 0; from < ids.length; from += 500) {
      const some = ids.slice(from, from + 500);
      await ledger.write((trx) => wantResends(trx, kind, some, { at: clock.iso(), reason, now }));
    }
  }

  /** Makes due requests until none is left or the wait would be too long. Each turn asks, sleeps or ends. */
  async function drain(
    { signal, forMs, meanwhile }: Waiting,
    only?: readonly ResendSubject[],
  ): Promise<AskedFor[]> {
    const until = clock.monotonic() + forMs;
    const answers: AskedFor[] = [];
    await reap();
    while (!signal?.aborted) {
      const due = await nextDueRequest(ledger.db, { at: clock.iso(), ...(only && { only }) });
      if (!due) break;
      const { leftMs } = await pauseOf(ledger.db, pauseName, clock.now());
      const wait = leftMs > 0 ? leftMs : await throttle.tryTake();
      if (wait > 0) {
        if (clock.monotonic() + wait > until) break;
        await meanwhile?.();
        await clock.sleep(Math.min(wait, longestSleepMs), signal);
        continue;
      }
      const answer = await askOne(due, only !== undefined);
      if (answer) answers.push(answer);
    }
    return answers;
  }

  async function askOne(due: DueResend, byPerson: boolean): Promise<AskedFor | undefined> {
    if (!(await ledger.write((trx) => claimResend(trx, due, clock.iso(), byPerson)))) return undefined;
    const reply = await service.resendWebhook(due.subject.kind, due.reference);
    const { outcome, message } = readReply(reply);
    await ledger.write(async (trx) => {
      const nowMs = clock.now();
      const { strikes } = await pauseOf(trx, pauseName, nowMs);
      if (reply.kind === 'trouble' && outcome !== 'asked' && outcome !== 'refused')
        await notePause(trx, pauseName, pauseAfter(reply, strikes), nowMs);
      else if (strikes > 0) await endStrikes(trx, pauseName);
      if (outcome === 'throttled') {
        await postponeResend(trx, due.id, clock.iso());
        return;
      }
      await closeResend(trx, due.id, { at: clock.iso(), outcome, raw: message });
      // Repeat until a webhook comes or the budget is spent; a later webhook cancels the request.
      const { kind, id } = due.subject;
      if (rules.receives && !byPerson)
        await wantResends(trx, kind, [id], { at: clock.iso(), reason: 'not heard after a request' });
    });
    if (outcome === 'throttled') return undefined;
    return { reference: due.reference, outcome, message };
  }

  function reap(): Promise<void> {
    const apart = { before: shifted(-claimLimitMs), after: shifted(claimLimitMs) };
    return ledger.write((trx) => reapResends(trx, clock.iso(), apart));
  }

  async function askSome(
    kind: ResendSubject['kind'],
    ids: readonly bigint[],
    signal?: AbortSignal,
  ): Promise<number> {
    if (!rules.receives) return 0;
    await want(kind, ids);
    return (await drain({ forMs: 0, ...(signal && { signal }) })).length;
  }

  return {
    ask: (payoutIds, signal) => askSome('payout', payoutIds, signal),
    askCollections: (ids, signal) => askSome('transaction', ids, signal),
    askDue: async (waiting) => (rules.receives ? (await drain(waiting)).length : 0),
    async askFor(subjects, waiting) {
      for (const kind of ['payout', 'transaction'] as const) {
        const ids = subjects.filter((one) => one.kind === kind).map(({ id }) => id);
        await want(kind, ids, true);
      }
      return drain(waiting, subjects);
    },
  };
}

type Read = { outcome: 'asked' | 'refused' | 'error' | 'throttled'; message: string };

/** Reads the answer. The interface does not show its shape: the HTTP status decides, and the envelope if there is one. */
function readReply(reply: LookUpReply | ServiceTrouble): Read {
  if (reply.kind === 'reply') {
    const denied =
      typeof reply.json === 'object' &&
      reply.json !== null &&
      'success' in reply.json &&
      reply.json.success === false;
    return {
      outcome: reply.httpStatus < 300 && !denied ? 'asked' : 'refused',
      message: reply.raw.slice(0, 300),
    };
  }
  const message = `${reply.reason}: ${reply.message}`;
  if (reply.reason === 'throttled') return { outcome: 'throttled', message };
  const { httpStatus } = reply;
  if (reply.reason === 'not_understood' && httpStatus !== null && httpStatus < 300)
    return { outcome: 'asked', message };
  if (reply.reason === 'not_understood' && httpStatus !== null && httpStatus >= 400)
    return { outcome: 'refused', message };
  return { outcome: 'error', message };
}

/** Pauses as long as the service asks for; otherwise longer each time in a row. */
function pauseAfter({ retryAfterMs, reason, message }: ServiceTrouble, strikes: number): EndpointPause {
  const growing = firstPauseMs * 2 ** Math.min(strikes, 10);
  const leftMs = Math.min(Math.max(1_000, retryAfterMs ?? growing), longestPauseMs);
  return { leftMs, strikes: strikes + 1, why: `${reason}: ${message}` };
}
