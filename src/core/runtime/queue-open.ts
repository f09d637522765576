import type { Clock } from './clock.ts';
import type { Job, Queue, RetryPolicy } from './queue.ts';
import type { Wire } from './queue-session.ts';

/** Where jobs wait: in this process alone, or on a server that processes share. */
export type QueueKind = 'inline' | 'redis' | 'postgres';

export function queueKind(url: string): QueueKind {
  if (url === 'inline') return 'inline';
  return /^rediss?:/.test(url) ? 'redis' : 'postgres';
}

/** The ledger and mode of a queue: on one server, the queues of two ledgers or modes never mix (P24). */
export type QueueSpace = { url: string; ledgerId: string; mode: string };

/** Opens the queue of `queue.url`, which all daemons on a ledger share; null for `inline`, which loads nothing. */
export async function openSharedQueue(
  space: QueueSpace,
  deps: {
    clock: Clock;
    retry: RetryPolicy;
    onFailed(job: Job, error: unknown): void;
    onAway(why: string): void;
    onBack(): void;
  },
): Promise<Queue | null> {
  if (queueKind(space.url) === 'inline') return null;
  const { createBullQueue } = await import('./queue-bullmq.ts');
  return createBullQueue({ ...deps, wire: () => wireOf(space) });
}

/** Checks whether the server answers, and how many jobs of these names it holds. Adds no job. */
export async function lookAtQueue(
  space: QueueSpace,
  names: readonly string[],
  clock: Clock,
): Promise<{ kind: 'reachable'; depth: number } | { kind: 'away'; why: string }> {
  const { openQueueSession: openSession } = await import('./queue-session.ts');
  try {
    if (queueKind(space.url) === 'postgres') {
      const { inspectPostgres } = await import('./queue-postgres.sql.ts');
      if ((await inspectPostgres(space.url)).schema === null) return { kind: 'reachable', depth: 0 };
    } else {
      const { inspectRedis } = await import('./queue-redis.ts');
      await inspectRedis(space.url);
    }
    const session = openSession(await wireOf(space), {
      clock,
      retry: { attempts: 1, backoffMs: 0 },
      isPaused: () => true,
      run: async () => undefined,
      onTrouble: () => undefined,
    });
    try {
      return { kind: 'reachable', depth: await session.depth(names) };
    } finally {
      session.drop();
    }
  } catch (error) {
    return { kind: 'away', why: error instanceof Error ? error.message : String(error) };
  }
}

async function wireOf({ url, ledgerId, mode }: QueueSpace): Promise<Wire> {
  const space = `${ledgerId}-${mode}`;
  if (queueKind(url) === 'redis') return (await import('./queue-redis.ts')).redisWire(url, space);
  return (await import('./queue-postgres.sql.ts')).postgresWire(url, space);
}
