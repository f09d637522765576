import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../src/app/app.ts';
import { type Bare, bareListing, bareLookUps, bareParse, barePosts, bareWrite, plainPosts } from './bare.ts';
import { writeBatch } from './batch-file.ts';
import * as ours from './ours.ts';
import { measureReceiver, receiverWords } from './receiver.ts';
import { type Service, type ServiceKind, startService } from './service.ts';
import { slowCommits } from './slow-disk.ts';
import { type Line, timed } from './table.ts';

const concurrency = 32;
/** Only some are settled by look-ups, so that the listing has the rest to settle. */
const mostLookUps = 1000;
/** Of so many at most a rate is measured: of more it says no more. */
const mostForRate = 100_000;

/** One run of everything; `peakMb` is of our own process. */
export type Run = {
  lines: Line[];
  /** Payouts a second: `plain` with fetch and a commit for each step, `ours` with submit, `bare` with undici alone. */
  perSecond: { plain: number; ours: number; bare: number };
  receiver: string[];
  peakMb: number;
};

/** Sends so many payouts through every step in this process, then runs the bare loops: on each kind of service. */
export async function measureOnce(rows: number, commitMs: number): Promise<Run> {
  const dir = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'));
  try {
    await writeBatch(join(dir, 'bench.csv'), rows);
    const { steps, bare, peakMb } = await measureOn('minimal', dir, rows);
    const sandbox = await measureOn('sandbox', dir, rows);
    const some = Math.min(rows, mostForRate);
    const plain = await withService('minimal', (on) =>
      timed(() => plainPosts(bareOf(on, on.bareUrl), some, join(dir, 'plain.db'))),
    );
    const received = await measureReceiver(some);
    const lines = steps.map(({ bareOf: name, ...line }): Line => {
      const there = onService.has(name) ? sandbox.steps.find(({ step }) => step === line.step) : undefined;
      const beside = there && { seconds: there.seconds, bareSeconds: sandbox.bare[name].seconds };
      return { ...line, bare: bare[name], ...(beside && { sandbox: beside }) };
    });
    const bareReceiver = { what: 'node:http, HMAC, 200', seconds: received.bareSeconds };
    lines.push({ step: 'receive webhooks', rows: some, seconds: received.seconds, bare: bareReceiver });
    if (commitMs > 0)
      lines.splice(3, 0, { ...(await measureSlowDisk(dir, rows, commitMs)), bare: bare.posts });
    const submit = steps.find(({ step }) => step === 'submit')?.seconds ?? Number.NaN;
    const perSecond = { plain: some / plain.seconds, ours: rows / submit, bare: rows / bare.posts.seconds };
    return { lines, perSecond, receiver: receiverWords(received), peakMb };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function withService<T>(kind: ServiceKind, work: (on: Service) => Promise<T>): Promise<T> {
  const service = await startService(kind);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

/** Ours first, so that the peak of memory is ours alone; then the bare loops. */
function measureOn(kind: ServiceKind, dir: string, rows: number) {
  return withService(kind, async (on) => {
    const app = await ours.openBenchApp(join(dir, kind), on, concurrency);
    const steps = await measureOurs(app, on, join(dir, 'bench.csv'), rows);
    await app.close();
    const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
    return { steps, bare: await measureBare(on, dir, rows), peakMb };
  });
}

/** Last of all: from here on every commit of this process is slow. */
function measureSlowDisk(dir: string, rows: number, commitMs: number): Promise<Line> {
  return withService('minimal', async (on) => {
    const app = await ours.openBenchApp(join(dir, 'slow'), on, concurrency);
    await ours.takeIn(app, join(dir, 'bench.csv'), rows);
    slowCommits(commitMs);
    const submit = await timed(() => ours.submit(app, rows));
    await app.close();
    return { step: `submit, commits of ${commitMs} ms`, rows, ...figures(submit) };
  });
}

function bareOf(on: Service, url: string): Bare {
  return { ...on.keys, url, concurrency };
}

/** The bare loops that talk to the service. */
const onService: ReadonlySet<BareName> = new Set<BareName>(['posts', 'lookUps', 'listing']);

type BareName = keyof Awaited<ReturnType<typeof measureBare>>;

async function measureOurs(
  app: App,
  on: Service,
  file: string,
  rows: number,
): Promise<(Line & { bareOf: BareName })[]> {
  const looked = Math.min(mostLookUps, rows);
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
      step: 'settle by reconciling',
      rows,
      ...figures(settle),
      bareOf: 'listing',
    },
    { step: 'reconcile again', rows, ...figures(again), bareOf: 'listing' },
    { step: 'report', rows, ...figures(report), bareOf: 'write' },
  ];
}

async function measureBare(on: Service, dir: string, rows: number) {
  const main = bareOf(on, on.url);
  const parse = await timed(() => bareParse(join(dir, 'bench.csv')));
  const posts = await timed(() => barePosts(bareOf(on, on.bareUrl), rows));
  const lookUps = await timed(() => bareLookUps(main, Math.min(mostLookUps, rows)));
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
