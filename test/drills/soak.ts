import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchOf } from './batches.ts';
import { type DrillHome, openHome } from './home.ts';
import { bookFaults, paidIn, until } from './waiting.ts';

/** One look at a `serve` under load. `descriptors`: the fewest of the minute before, since requests in flight hold some. */
type Sample = {
  minute: number;
  memoryMb: number;
  descriptors: number;
  ledgerMb: number;
  walMb: number;
};
type Figure = Exclude<keyof Sample, 'minute'>;

const everyMs = 60_000;
const dropEveryMs = 20_000;
const payoutsADrop = 40;
/** The first half is warm-up: compilers, caches and the first reports. */
const warmUp = 0.5;
/** In a shorter run the heap still grows to its limits: its slopes are shown and not judged. */
const fewestMinutes = 60;

/** What no figure may pass, and the most that it may grow in an hour once warm; null: it grows with the payouts. */
const limits: Readonly<Record<Figure, { most: number; anHour: number | null }>> = {
  memoryMb: { most: 300, anHour: 40 },
  descriptors: { most: 100, anHour: 6 },
  ledgerMb: { most: Number.POSITIVE_INFINITY, anHour: null },
  walMb: { most: 64, anHour: 16 },
};
const figures: readonly Figure[] = ['memoryMb', 'descriptors', 'ledgerMb', 'walMb'];

/** Runs `serve` under a steady load of batches and webhooks, and looks each minute at what may leak. */
export async function soak(minutes: number): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome({ COUNTERFOIL_SUBMISSION_DUPLICATE_WINDOW_DAYS: '0' });
  try {
    await home.serve.start();
    const pid = home.serve.pid();
    const samples: Sample[] = [];
    const began = performance.now();
    let drops = 0;
    let fewest = descriptorsOf(home);
    for (let minute = 0; minute <= minutes; minute++) {
      const sample = { ...sampleOf(home, minute), descriptors: fewest };
      samples.push(sample);
      fewest = Number.POSITIVE_INFINITY;
      process.stderr.write(`${JSON.stringify(sample)}\n`);
      while (minute < minutes && performance.now() - began < (minute + 1) * everyMs) {
        if (performance.now() - began >= drops * dropEveryMs) {
          home.drop(`soak-${drops}.csv`, batchOf(`SOAK-${drops}`, payoutsADrop, drops * payoutsADrop));
          drops += 1;
        }
        await sleep(500);
        fewest = Math.min(fewest, descriptorsOf(home));
      }
    }
    const payouts = drops * payoutsADrop;
    await until('all settled', async () => (await paidIn(home)) === payouts);
    const isLong = minutes >= fewestMinutes;
    const leaks = figures.flatMap((figure) => faultsOf(figure, samples, isLong));
    const faults = [...leaks, ...bookFaults(home, payouts)];
    if (home.serve.pid() !== pid) faults.push('serve was started again');
    const head = `| ${minutes} minutes, ${payouts} payouts | first | last | most | an hour, once warm |`;
    const lines = figures.map((figure) => lineOf(figure, samples));
    const fine = isLong
      ? 'nothing leaks'
      : `within its limits; slopes are judged from ${fewestMinutes} minutes`;
    const verdict = faults.length === 0 ? [fine] : faults.map((fault) => `FAILED  ${fault}`);
    return { lines: [head, '|---|---:|---:|---:|---:|', ...lines, ...verdict], failed: faults.length > 0 };
  } finally {
    await home.close();
  }
}

function descriptorsOf({ serve }: DrillHome): number {
  return readdirSync(`/proc/${serve.pid()}/fd`).length;
}

function sampleOf({ dir, serve }: DrillHome, minute: number): Omit<Sample, 'descriptors'> {
  const status = readFileSync(`/proc/${serve.pid()}/status`, 'utf8');
  const memoryKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
  const ledger = join(dir, 'data', 'ledger.db');
  return {
    minute,
    memoryMb: memoryKb / 1024,
    ledgerMb: sizeMb(ledger),
    walMb: sizeMb(`${ledger}-wal`),
  };
}

function sizeMb(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1024 / 1024;
}

function faultsOf(figure: Figure, samples: readonly Sample[], isLong: boolean): string[] {
  const { most, anHour } = limits[figure];
  const peak = Math.max(...samples.map((sample) => sample[figure]));
  const slope = slopeOf(figure, samples);
  return [
    ...(peak > most ? [`${figure}: ${peak.toFixed(1)}, at most ${most}`] : []),
    ...(isLong && anHour !== null && slope > anHour
      ? [`${figure} grows by ${slope.toFixed(1)} an hour`]
      : []),
  ];
}

function lineOf(figure: Figure, samples: readonly Sample[]): string {
  const values = samples.map((sample) => sample[figure]);
  const [first = 0, last = 0, most] = [values[0], values.at(-1), Math.max(...values)];
  const cells = [first, last, most, slopeOf(figure, samples)].map((value) => value.toFixed(1));
  return `| ${[figure, ...cells].join(' | ')} |`;
}

/** How much it grows in an hour: the least squares of what is warm. */
function slopeOf(figure: Figure, samples: readonly Sample[]): number {
  const warm = samples.slice(Math.floor(samples.length * warmUp));
  const mean = (of: (sample: Sample) => number): number =>
    warm.reduce((sum, sample) => sum + of(sample), 0) / warm.length;
  const [middle, height] = [mean(({ minute }) => minute), mean((sample) => sample[figure])];
  const rise = mean((sample) => (sample.minute - middle) * (sample[figure] - height));
  const spread = mean(({ minute }) => (minute - middle) ** 2);
  return spread === 0 ? 0 : (rise / spread) * 60;
}
