import { fill } from '../../jobs/send-chunk.ts';
import type { App } from '../app/app.ts';
import { markAttempts } from '../core/ledger/known.ts';
import { type Queue, QueueAway } from '../core/runtime/queue.ts';
import { sendable } from '../sending/claims.sql.ts';
import type { Gate } from './sending-gate.ts';

/** How long nothing may be sent of what is ready before this process stops waiting for the queue. */
const patienceMs = 60_000;

/**
 * Checks whether a queue that answers also hands out its jobs. A paused queue, perhaps paused in a dashboard, keeps
 * them, and nothing would ever be sent. `send` then makes this process send what is ready by itself.
 */
export function createStandstill(
  app: Pick<App, 'ledger' | 'clock' | 'log' | 'brakes' | 'config'>,
  { gate, send }: { gate: Gate; send: () => Promise<void> },
): (queue: Queue) => Promise<void> {
  const { ledger, clock, log, brakes } = app;
  let newest = -1n;
  let sinceMs = 0;
  return async (queue) => {
    const { last } = await markAttempts(ledger.db);
    const nowMs = clock.monotonic();
    if (last === newest && nowMs - sinceMs < patienceMs) return;
    const moved = last !== newest;
    newest = last;
    sinceMs = nowMs;
    if (moved || (await sendable(ledger.db, brakes.under())).ready === 0) return;
    const word = await gate.word();
    if (word === null) return;
    // If the queue lacked jobs, it is not paused: the worker that took them had a reason to send nothing, and logged
    // it.
    const added = await fill(app, queue, word).catch((error: unknown) => {
      if (error instanceof QueueAway) return null;
      throw error;
    });
    if (added === null || added.length > 0) return;
    log.warn(
      `the queue has handed out nothing for ${patienceMs / 1000} s although payouts are ready, perhaps because it is paused: this process sends them by itself. Nothing is lost`,
    );
    await send();
  };
}
