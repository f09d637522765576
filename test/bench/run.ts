import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { App } from '../../src/app.ts';
import { type Bare, bareListing, bareLookUps, bareParse, barePosts, bareWrite, plainPosts } from './bare.ts';
import { writeBatch } from './batch-file.ts';
import * as ours from './ours.ts';
import { measureReceiver, receiverWords } from './receiver.ts';
import { type Service, startService } from './service.ts';
import { type Line, tableOf, timed } from './table.ts';

// As src/bin.js does for every command.
setFlagsFromString('--optimize-for-size');

const concurrency = 32;
const memoryLimitMb = 300;

const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000' } } });
if (!/^[1-9]\d{0,6}$/.test(values.rows))
  throw new Error(`--rows: expected a whole number, got "${values.rows}"`);
const rows = Number(values.rows);

const dir = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'));
const service = await startService();
try {
  await measure(service);
} finally {
  await service.stop();
  await rm(dir, { recursive: true, force: true });
}

/** Ours first, so that the peak of memory is ours alone; then the bare loops. */
async function measure(on: Service): Promise<void> {
  const file = join(dir, 'bench.csv');
  await writeBatch(file, rows);
  const app = await ours.openBenchApp(dir, on, concurrency);
  const lines = await measureOurs(app, on, file);
  await app.close();
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const bare = await measureBare(on, file);
  const plain = await timed(() => plainPosts(bareOf(on, on.bareUrl), rows, join(dir, 'plain.db')));
  const received = await measureReceiver(rows);
  const table: Line[] = lines.map(({ bareOf, ...line }) => (bareOf ? { ...line, bare: bare[bareOf] } : line));
  const { seconds, bareSeconds } = received;
  const bareReceiver = { what: 'node:http, HMAC, 200', seconds: bareSeconds };
  table.push({ step: 'receive webhooks', rows, seconds, peakMb, bare: bareReceiver });
  const submitted = lines.find(({ step }) => step === 'submit')?.seconds ?? Number.NaN;
  console.log(`${rows} payouts, ${concurrency} requests in flight, sandbox in a process of its own\n`);
  console.log(tableOf(table));
  console.log(
    `\nfetch with a commit for each step: ${Math.round(rows / plain.seconds)} payouts/s; submit: ${(plain.seconds / submitted).toFixed(1)} times that`,
  );
  console.log('\nthe receiver, a process of its own:');
  for (const line of receiverWords(received)) console.log(`- ${line}`);
  console.log(
    `\npeak memory of our process: ${peakMb} MB (limit ${memoryLimitMb} MB${peakMb > memoryLimitMb ? ', EXCEEDED' : ''})`,
  );
  if (peakMb > memoryLimitMb) process.exitCode = 1;
}

function bareOf(on: Service, url: string): Bare {
  return { ...on.keys, url, concurrency };
}

type BareName = keyof Awaited<ReturnType<typeof measureBare>>;

async function measureOurs(app: App, on: Service, file: string): Promise<(Line & { bareOf?: BareName })[]> {
  const looked = lookedUp();
  const check = await timed(() => ours.check(app, file, rows));
  const intake = await timed(() => ours.takeIn(app, file, rows));
  const submit = await timed(() => ours.submit(app, rows));
  const paid = await on.settle();
  const lookUps = await timed(() => ours.lookUp(app, looked));
  const settle = await timed(() => ours.reconcile(app, rows));
  ours.expectCount(
    "successes in the ledger, against the service's book",
    await ours.countSuccesses(app),
    paid,
  );
  const again = await timed(() => ours.reconcile(app, rows));
  const report = await timed(() => ours.report(app, intake.result));
  return [
    { step: 'check', rows, ...figures(check), bareOf: 'parse' },
    { step: 'intake', rows, ...figures(intake), bareOf: 'parse' },
    { step: 'submit', rows, ...figures(submit), bareOf: 'posts' },
    { step: 'settle by look-ups', rows: looked, ...figures(lookUps), bareOf: 'lookUps' },
    {
      step: `settle by reconciling (${settle.result} passes)`,
      rows,
      ...figures(settle),
      bareOf: 'listing',
    },
    { step: `reconcile again (${again.result} passes)`, rows, ...figures(again), bareOf: 'listing' },
    { step: 'report', rows, ...figures(report), bareOf: 'write' },
  ];
}

async function measureBare(on: Service, file: string) {
  const main = bareOf(on, on.url);
  const parse = await timed(() => bareParse(file));
  const posts = await timed(() => barePosts(bareOf(on, on.bareUrl), rows));
  const lookUps = await timed(() => bareLookUps(main, lookedUp()));
  const listing = await timed(() => bareListing(main));
  ours.expectCount('rows in the bare listing', listing.result, rows);
  const write = await timed(() => bareWrite(join(dir, 'bare.csv'), rows));
  return {
    parse: { what: 'csv-parse', seconds: parse.seconds },
    posts: { what: 'undici, signed POSTs', seconds: posts.seconds },
    lookUps: { what: 'undici, details', seconds: lookUps.seconds },
    listing: { what: 'undici, every page once', seconds: listing.seconds },
    write: { what: 'csv-stringify, one file', seconds: write.seconds },
  };
}

function figures({ seconds, peakMb, heldMs }: { seconds: number; peakMb: number; heldMs: number }) {
  return { seconds, peakMb, heldMs };
}

/** Only some are settled by look-ups, so that the listing has the rest to settle. */
function lookedUp(): number {
  return Math.min(1000, rows);
}
