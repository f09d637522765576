import { join } from 'node:path';
import { type Bare, bareListing, bareLookUps, bareParse, barePosts, bareWrite, plainPosts } from './bare.ts';
import { type ServiceKind, startService } from './service.ts';
import { timed } from './table.ts';

export type LoopName = 'parse' | 'posts' | 'lookUps' | 'listing' | 'write' | 'plain';
/** `names`: which loops to run, in this order. `dir`: where the files that they write belong. */
export type BareOrder = {
  kind: ServiceKind;
  file: string;
  dir: string;
  rows: number;
  looked: number;
  concurrency: number;
  names: LoopName[];
};
/** The seconds of each of them. */
export type BareFigures = number[];

/** Runs bare loops in a process and with a service of their own; prints their seconds. */
const { kind, file, dir, rows, looked, concurrency, names }: BareOrder = JSON.parse(process.argv[2] ?? '');
const service = await startService(kind);
const bare: Bare = { ...service.keys, url: service.url, concurrency };
const loops: Readonly<Record<LoopName, () => Promise<unknown>>> = {
  parse: () => bareParse(file),
  posts: () => barePosts(bare, rows),
  lookUps: () => bareLookUps(bare, looked),
  listing: async () => {
    const seen = await bareListing(bare);
    if (seen !== rows) throw new Error(`rows in the bare listing: ${seen}, expected ${rows}`);
  },
  write: () => bareWrite(join(dir, 'bare.csv'), rows),
  plain: () => plainPosts(bare, rows, join(dir, 'plain.db')),
};
const seconds: BareFigures = [];
for (const name of names) seconds.push((await timed(loops[name])).seconds);
await service.stop();
process.stdout.write(JSON.stringify(seconds));
