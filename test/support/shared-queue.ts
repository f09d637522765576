import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/core/runtime/clock.ts';
import type { Job, Queue } from '../../src/core/runtime/queue.ts';
import { createBullQueue } from '../../src/core/runtime/queue-bullmq.ts';
import type { Wire } from '../../src/core/runtime/queue-session.ts';
import { retry } from '../core/runtime/queue-conformance.ts';

/** What a shared queue said of its server and its jobs. */
export type Heard = { away: string[]; back: number; failed: string[] };

/** A queue over the wire that `wireOf` makes for a space, and what it says. */
export function sharedQueue(
  wireOf: (space: string) => Promise<Wire>,
  options: { space?: string; onFailed?: (job: Job, error: unknown) => void } = {},
): { queue: Queue; heard: Heard } {
  const heard: Heard = { away: [], back: 0, failed: [] };
  const { space = randomUUID(), onFailed } = options;
  const queue = createBullQueue({
    wire: () => wireOf(space),
    clock: systemClock(),
    retry,
    onFailed: (job, error) => {
      heard.failed.push(job.id);
      onFailed?.(job, error);
    },
    onAway: (why) => void heard.away.push(why),
    onBack: () => void heard.back++,
  });
  return { queue, heard };
}
