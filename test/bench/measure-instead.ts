import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { inProcess } from './in-process.ts';
import type { InsteadFigures, InsteadName, InsteadOrder } from './instead-process.ts';

/** One way to send payouts, and how it went. */
export type Built = { what: string; perSecond: number; requestsEach: number };

const builds: readonly { name: InsteadName; what: string; start: () => Promise<Server | null> }[] = [
  { name: 'bullmq', what: 'BullMQ on Redis, rows in SQLite', start: startRedis },
  { name: 'graphile', what: 'graphile-worker on PostgreSQL', start: () => startPostgres({ fsync: 'on' }) },
];

type Server = { url: string; stop(): Promise<void> };

/** Sends so many payouts with what a user would build instead. What has no server here is left out. */
export async function measureInstead(plan: Omit<InsteadOrder, 'name' | 'server'>): Promise<Built[]> {
  const measured: Built[] = [];
  for (const { name, what, start } of builds) {
    const server = await start();
    if (!server) continue;
    try {
      const order: InsteadOrder = { ...plan, name, server: server.url };
      const { seconds, requests }: InsteadFigures = await inProcess('instead-process.ts', order, []);
      measured.push({ what, perSecond: plan.rows / seconds, requestsEach: requests / plan.rows });
    } finally {
      await server.stop();
    }
  }
  return measured;
}
