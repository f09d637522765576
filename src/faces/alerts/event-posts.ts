import { growingPause } from '../../core/domain/pause.ts';
import { subjectOf, type Traces } from '../../core/domain/trace.ts';
import { newestCursor, readEvents } from '../../core/ledger/event-feed.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import { sharedNow } from '../../core/runtime/rates.sql.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { EventJson } from '../../core/shapes/event-shapes.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { ChannelResult } from './channel.ts';
import {
  claimOutbox,
  forgetOutbox,
  isUnclaimed,
  type OutboxClaim,
  ownOutbox,
  type PostProgress,
  recordPosts,
} from './event-outbox.sql.ts';
import { askOnce } from './http-channel.ts';
import { signedHeaders } from './signed-post.ts';

const firstPauseMs = 5000;
/** Pauses of 5, 10, 20 seconds … and then of an hour: so many tries of one event take 72 hours (P33: counted, not timed). */
const mostTries = 82;
/** Events that are read at once. */
const eventsAtOnce = 200;
/** How far a receiver was told is recorded this often while it answers. A crash repeats what it was told since. */
const recordEveryMs = 250;

/** The wait after so many tries of an event; null: that was the last one. */
export function pauseAfterPost(tries: number, retryAfterMs: number): number | null {
  return tries >= mostTries ? null : growingPause(firstPauseMs, tries, retryAfterMs);
}

/**
 * Posts each event to `events.url`, signed as Standard Webhooks say, one at a time in their order (P39). The next one waits
 * until this one is acknowledged by 2xx, or given up. What is recorded was acknowledged before, so that a crash repeats
 * events under the same id and leaves none out.
 */
export function createEventPosts(deps: {
  ledger: Ledger;
  clock: Clock;
  config: Pick<Config, 'events'>;
  log: Pick<Logger, 'warn'>;
  /** This process's worker id, which its claim bears. */
  worker: string;
  traces?: Traces;
}) {
  const { ledger, clock, log, worker: by } = deps;
  const { url, details, secret = '' } = deps.config.events;
  const isOn = url !== '';
  const nowOf = (): Promise<number> => sharedNow(ledger.db, clock.now());
  /** When the next event is due, on the monotonic clock (P33); null: another process posts. */
  let dueMs: number | null = null;

  async function claim(): Promise<OutboxClaim | undefined> {
    const claimer = { by, nowMs: await nowOf() };
    const own = await ownOutbox(ledger.db, claimer);
    if (own || !(await isUnclaimed(ledger.db, by))) return own;
    await ledger.write((trx) => claimOutbox(trx, claimer));
    return ownOutbox(ledger.db, claimer);
  }

  function send(event: EventJson, signal: AbortSignal): Promise<ChannelResult> {
    const body = JSON.stringify(event);
    const headers = signedHeaders(secret, { id: event.id, at: new Date(clock.now()), body });
    const start = { name: 'event post', about: subjectOf(event.data) };
    return askOnce({ url, method: 'POST', headers, body, signal }, deps.traces, start);
  }

  async function record(progress: PostProgress): Promise<boolean> {
    const at = new Date(await nowOf()).toISOString();
    return ledger.write((trx) => recordPosts(trx, { by, at }, progress));
  }

  /** Posts a page of events. Returns where to go on; undefined: nothing is left, or the next one must wait. */
  async function postPage(
    { after, tries }: OutboxClaim,
    signal: AbortSignal,
  ): Promise<OutboxClaim | undefined> {
    const page = await readEvents(ledger.db, { after, limit: eventsAtOnce, details });
    if (page.kind === 'lost') return pass(after, await newestCursor(ledger.db), { problem: page.why });
    let told = after;
    let recordedAt = clock.monotonic();
    for (const event of page.events) {
      const result = await send(event, signal);
      if (result.kind === 'failed') return fail(event, { after, told, tries }, result);
      told = event.cursor;
      if (clock.monotonic() - recordedAt < recordEveryMs) continue;
      if (!(await record({ after: told }))) return undefined;
      recordedAt = clock.monotonic();
    }
    const isKept = page.reached === after || (await record({ after: page.reached }));
    return isKept && page.next !== null ? { after: page.reached, tries: 0, waitMs: 0 } : undefined;
  }

  async function fail(
    { id, type, cursor }: EventJson,
    { after, told, tries: before }: { after: string; told: string; tries: number },
    { problem, retryAfterMs }: Extract<ChannelResult, { kind: 'failed' }>,
  ): Promise<OutboxClaim | undefined> {
    if (problem === 'stopped') {
      if (told !== after) await record({ after: told });
      return undefined;
    }
    const tries = told === after ? before + 1 : 1;
    const pauseMs = pauseAfterPost(tries, retryAfterMs);
    if (pauseMs === null) return pass(told, cursor, { event: id, type, problem, tries });
    dueMs = clock.monotonic() + pauseMs;
    await record({ after: told, failed: { problem, tries, pauseMs } });
    log.warn({ event: id, type, problem, tries }, 'an event could not be posted yet');
    return undefined;
  }

  /** Gives up what comes up to a cursor, and goes on after it. */
  async function pass(
    after: string,
    past: string,
    why: { problem: string } & Record<string, unknown>,
  ): Promise<OutboxClaim | undefined> {
    log.warn(why, 'events were given up');
    const isKept = await record({ after, failed: { problem: why.problem, tries: 0, pauseMs: null, past } });
    return isKept ? { after: past, tries: 0, waitMs: 0 } : undefined;
  }

  return {
    /** Whether there is anybody to post to. */
    isOn,
    /** Posts what is due until nothing is left, an event must wait, or the signal aborts. Throws what the ledger throws. */
    async post(signal: AbortSignal): Promise<void> {
      if (!isOn || (dueMs !== null && clock.monotonic() < dueMs)) return;
      let own = await claim();
      dueMs = own ? (dueMs ?? clock.monotonic() + own.waitMs) : null;
      if (dueMs !== null && clock.monotonic() < dueMs) return;
      while (own && !signal.aborted) own = await postPage(own, signal);
    },
    /** Forgets how far `events.url` was told, where none is configured. */
    async forget(): Promise<void> {
      if (!isOn) await ledger.write(forgetOutbox);
    },
  };
}
