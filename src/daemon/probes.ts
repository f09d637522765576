import type { Queue } from '../core/runtime/queue.ts';
import type { ProbedQueue } from '../findings/machine-findings.ts';

const probeName = 'probe';

/** The queues of a daemon, with the way to find out whether each moves. `shared`: once it is joined. */
export function createProbes(deps: { own: Queue; shared(): Queue | null }): () => ProbedQueue[] {
  const ownProbe = probeOf(deps.own);
  return () => {
    const shared = deps.shared();
    return [ownProbe, ...(shared ? [{ name: 'shared', probe: () => lookAt(shared) }] : [])];
  };
}

/** Passes a job of its own through the queue of this process. */
function probeOf(queue: Queue): ProbedQueue {
  let waiting: (() => void)[] = [];
  queue.process(
    probeName,
    async () => {
      for (const done of waiting) done();
      waiting = [];
    },
    { concurrency: 1 },
  );
  return {
    name: 'inline',
    async probe() {
      const given = new Promise<void>((resolve) => waiting.push(resolve));
      await queue.add({ name: probeName, id: probeName, payload: {} });
      await given;
      return { kind: 'moves' };
    },
  };
}

/** A job of its own would be given to any daemon: asks the server, which must answer, whether it hands out jobs. */
async function lookAt(queue: Queue): ReturnType<ProbedQueue['probe']> {
  return { kind: (await queue.isPaused()) ? 'paused' : 'moves' };
}
