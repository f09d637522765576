import * as chunkJob from '../../jobs/send-chunk.ts';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { logEvent } from '../core/runtime/log-events.ts';
import type { Job, Queue, RetryPolicy } from '../core/runtime/queue.ts';
import { openSharedQueue } from '../core/runtime/queue-open.ts';
import type { Preflight } from '../sending/preflight.ts';
import type { SenderStop } from '../sending/send.ts';
import { preflightText } from '../words/preflight-words.ts';
import { stopText } from '../words/stop-words.ts';
import { logCheck, logSent } from './daemon-log.ts';
import type { EventWatch } from './event-watch.ts';
import type { Gate } from './sending-gate.ts';

/** How long chunks are dropped after sending stopped early; the schedule queues them again. */
const restMs = 5000;

/** Sends in a daemon one piece of work at a time, so that `service.concurrency` holds for the process. */
export function createSending(
  app: App,
  deps: {
    gate: Gate;
    stopping: AbortSignal;
    watched<T>(work: Promise<T>): Promise<T>;
    events: EventWatch;
  },
) {
  const { gate, stopping, watched, events } = deps;
  const { config, clock, log } = app;
  const take = createTurns();
  let asking: Promise<Preflight> | null = null;
  let restUntil = 0;
  /** Why the last send stopped before all that was ready went. */
  let stopped: string | null = null;

  /** P24: before the first send, checks that the service shows our mode and no other. */
  async function cleared(): Promise<Preflight> {
    asking ??= app.preflight(stopping);
    const asked = asking;
    const said = await asked;
    // What was not clear is asked again, at the next turn.
    if (said.kind === 'problem' && asking === asked) {
      asking = null;
      log.error(preflightText(said.problem));
    }
    return said;
  }
  /** The scheduled run that let this work begin has done its work only when what was ready went. */
  async function noteStop(why: string | null): Promise<void> {
    if (why === stopped) return;
    stopped = why;
    const word = await gate.word();
    if (word === null) return;
    const end = why === null ? ({ kind: 'succeeded', result: {} } as const) : stoppedEarly(why);
    await watched(app.jobsStore.corrected(submitJob.name, { startedAt: word, endedAt: clock.iso(), ...end }));
  }
  async function noteEnd(result: SenderStop): Promise<void> {
    logSent(app, result.counts);
    await events.look();
    if (result.ended !== 'drained') {
      restUntil = clock.monotonic() + restMs;
      logEvent(log, 'sending_stopped', { why: stopText(result), text: 'sending stopped early' });
    }
    // A halt says so itself, and who stops serve knows.
    const isStopped = result.ended === 'unreachable' || result.ended === 'stuck';
    await noteStop(isStopped ? stopText(result) : null);
    await app.reporting.writeDueBatchResults();
    await app.reporting.writeIndex();
  }
  async function submit(): Promise<void> {
    if ((await gate.word()) === null || (await cleared()).kind === 'problem') return;
    await noteEnd(await watched(submitJob.run(app, { signal: stopping, onCheck: logCheck(app) })));
  }
  /**
   * Sends one chunk. If the queue withdraws it (its lock ran out, or the server was emptied), the work goes on. Its
   * claims in the ledger stay its own, and the next worker finds the rest.
   */
  async function sendChunk(job: Job, queue: Queue): Promise<void> {
    if (clock.monotonic() < restUntil || stopping.aborted) return;
    // The chunk may be left from another day; the next scheduled run queues it again.
    if ((await gate.word(chunkJob.wordOf(job.payload))) === null) return;
    if ((await cleared()).kind === 'problem') {
      restUntil = clock.monotonic() + restMs;
      return;
    }
    const chunk = await watched(chunkJob.run(app, job.payload, { queue, signal: stopping }));
    // Results are written when a batch has no more chunks, not after each chunk.
    if (chunk.kind === 'not_ours' || chunk.full) return;
    const sent = Object.values(chunk.result.counts).reduce((sum, count) => sum + count, 0);
    if (chunk.result.ended !== 'drained' || sent > 0) await noteEnd(chunk.result);
  }
  return {
    /** Sends what is ready, if the schedule allows it; other processes may send too. */
    submit: () => take(submit),
    /** Why what may be sent is not sent; null: it is, as far as this process knows. */
    async unsent(hasWork: boolean): Promise<string | null> {
      if (!hasWork) stopped = null;
      const asked = hasWork ? await cleared() : null;
      return asked?.kind === 'problem' ? preflightText(asked.problem) : stopped;
    },
    /** Starts to take chunks from the queue that daemons share; null if `queue.url` names none. */
    async join({
      retry,
      onFailed,
      onBack,
    }: {
      retry: RetryPolicy;
      onFailed(job: Job, error: unknown): void;
      onBack(): Promise<unknown>;
    }): Promise<Queue | null> {
      const queue = await openSharedQueue(
        { url: config.queue.url, ledgerId: app.ledger.id, mode: config.mode },
        {
          clock,
          retry,
          onFailed,
          onAway: (why) =>
            logEvent(log, 'queue_away', {
              why,
              text: 'the queue cannot be reached: until it is back, this process sends by itself what is ready. Nothing is lost',
            }),
          onBack: () => {
            logEvent(log, 'queue_back', { text: 'the queue is back' });
            onBack().catch((error: unknown) => log.error({ err: error }, 'the queue could not be filled'));
          },
        },
      );
      queue?.process(chunkJob.name, (job) => take(() => sendChunk(job, queue)), { concurrency: 1 });
      return queue;
    },
  };
}

function stoppedEarly(why: string) {
  return { kind: 'incomplete', result: { why } } as const;
}

/** Does one piece of work after the other. */
function createTurns(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
