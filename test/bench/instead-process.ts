import { join } from 'node:path';
import type { Bare } from './bare.ts';
import { withBullmq, withGraphile } from './instead.ts';
import { countRequests } from './requests.ts';
import { startService } from './service.ts';

export type InsteadName = 'bullmq' | 'graphile';
/** `server`: of Redis or PostgreSQL. `dir`: where its files belong. */
export type InsteadOrder = {
  name: InsteadName;
  server: string;
  dir: string;
  rows: number;
  concurrency: number;
};
export type InsteadFigures = { seconds: number; requests: number };

/** Sends with what a user would build instead, in a process and with a service of its own; prints how it went. */
const { name, server, dir, rows, concurrency }: InsteadOrder = JSON.parse(process.argv[2] ?? '');
const service = await startService('minimal');
const bare: Bare = { ...service.keys, url: service.url, concurrency };
const requests = countRequests();
const builds: Readonly<Record<InsteadName, () => Promise<number>>> = {
  bullmq: () => withBullmq(bare, rows, server, join(dir, 'bullmq.db')),
  graphile: () => withGraphile(bare, rows, server),
};
const seconds = await builds[name]();
const paid = await service.settle();
if (paid !== rows) throw new Error(`paid: ${paid}, expected ${rows}`);
await service.stop();
const figures: InsteadFigures = { seconds, requests: requests() };
process.stdout.write(JSON.stringify(figures));
process.exit(0);
