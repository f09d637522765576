import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BareFigures, BareOrder, LoopName } from './bare-process.ts';
import { writeBatch } from './batch-file.ts';
import { asCommandsRun } from './heap.ts';
import { inProcess } from './in-process.ts';
import { type Built, measureInstead } from './measure-instead.ts';
import type { OursFigures, OursOrder } from './ours-process.ts';
import { measureReceiver, receiverWords } from './receiver.ts';
import type { ServiceKind } from './service.ts';
import type { Line } from './table.ts';

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
  /** Submit, and what a user would build instead. */
  builds: Built[];
  peakMb: number;
};

const loops: Readonly<Record<LoopName, string>> = {
  parse: 'csv-parse',
  posts: 'undici, signed POSTs',
  lookUps: 'undici, details',
  listing: 'undici, every page once',
  write: 'csv-stringify, one file',
  plain: 'fetch and two commits',
};

/** The loops that talk to the service. */
const onService: ReadonlySet<LoopName> = new Set<LoopName>(['posts', 'lookUps', 'listing']);

/**
 * Sends so many payouts through every step, and through the bare loops: on each kind of service. Ours and the loops run
 * in processes of their own, in the same order. Each finds its runtime as warm as the other does.
 */
export async function measureOnce(rows: number, commitMs: number): Promise<Run> {
  const dir = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'));
  const file = join(dir, 'bench.csv');
  const common = { file, concurrency, looked: Math.min(mostLookUps, rows) };
  const bare = (kind: ServiceKind, names: LoopName[], some = rows): Promise<BareFigures> => {
    const order: BareOrder = { ...common, kind, rows: some, dir, names };
    return inProcess('bare-process.ts', order, []);
  };
  const measure = async (kind: ServiceKind, slowMs = 0) => {
    const order: OursOrder = {
      ...common,
      kind,
      rows,
      home: join(dir, `${kind}-${slowMs}`),
      commitMs: slowMs,
    };
    const ours: OursFigures = await inProcess('ours-process.ts', order, asCommandsRun);
    const names = ours.steps.map(({ loop }) => loop);
    const seconds = await bare(kind, names);
    const steps = ours.steps.map((step, at) => ({ ...step, bareSeconds: seconds[at] ?? Number.NaN }));
    return { steps, peakMb: ours.peakMb, requests: ours.requests };
  };
  try {
    await writeBatch(file, rows);
    const { steps, peakMb, requests } = await measure('minimal');
    const sandbox = await measure('sandbox');
    const slow = commitMs > 0 ? (await measure('minimal', commitMs)).steps.slice(-1) : [];
    const some = Math.min(rows, mostForRate);
    const [, , plain = Number.NaN] = await bare('minimal', ['parse', 'parse', 'plain'], some);
    const received = await measureReceiver(some);
    const lines = [...steps, ...slow].map(({ loop, bareSeconds, ...line }): Line => {
      const there = onService.has(loop) && sandbox.steps.find(({ step }) => step === line.step);
      return { ...line, bare: { what: loops[loop], seconds: bareSeconds }, ...(there && { sandbox: there }) };
    });
    const bareReceiver = { what: 'node:http, HMAC, 200', seconds: received.bareSeconds };
    lines.push({ step: 'receive webhooks', rows: some, seconds: received.seconds, bare: bareReceiver });
    const submit = steps.find(({ loop }) => loop === 'posts');
    const perSecond = {
      plain: some / plain,
      ours: rows / (submit?.seconds ?? Number.NaN),
      bare: rows / (submit?.bareSeconds ?? Number.NaN),
    };
    const instead = await measureInstead({ dir, rows: some, concurrency });
    const own = { what: 'submit', perSecond: perSecond.ours, requestsEach: requests / rows };
    return { lines, perSecond, receiver: receiverWords(received), builds: [own, ...instead], peakMb };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
