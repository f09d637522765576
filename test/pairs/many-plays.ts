import { Worker } from 'node:worker_threads';
import { workerArguments } from '../support/share-charts.ts';
import { impossible } from './impossible.ts';
import type { PlayResult } from './play.ts';
import type { Play } from './plays.ts';

/** What a run of plays came to. `met`: how many plays each element took part in, and in how many it did something. */
export type Summary = {
  run: number;
  seconds: number;
  impossible: number;
  /** Plays in which every move did something, in which one did nothing, and in which more did. */
  all: number;
  one: number;
  none: number;
  operator: number;
  met: Map<string, { played: number; did: number; pairs: number }>;
  /** What the moves that did nothing say. */
  nothings: Map<string, number>;
  stood: Map<string, number>;
  failed: PlayResult[];
  /** The table says that it cannot be, and it was. */
  wrongTable: string[];
};

/** Plays these, in their order, on so many threads, until all are done or time is up. */
export async function runPlays(
  plays: readonly Play[],
  options: {
    seconds: number;
    threads: number;
    trace?: boolean;
    stop?: boolean;
    onPlay?(result: PlayResult, sofar: Summary): void;
  },
): Promise<Summary> {
  const { seconds, threads, trace = false, stop = false, onPlay } = options;
  const summary: Summary = {
    ...{ run: 0, seconds: 0, impossible: 0, all: 0, one: 0, none: 0, operator: 0 },
    ...{ met: new Map(), nothings: new Map(), stood: new Map(), failed: [], wrongTable: [] },
  };
  const byNumber = new Map(plays.map((play) => [play.number, play]));
  const started = performance.now();
  let next = 0;
  const thread = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), { execArgv: workerArguments });
      const go = (): void => {
        const play = plays[next];
        next += 1;
        const isOver = stop && summary.failed.length > 0;
        if (play && !isOver && performance.now() - started < seconds * 1000)
          worker.postMessage({ number: play.number, trace });
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on('message', (result: PlayResult) => {
        summary.seconds = (performance.now() - started) / 1000;
        const play = byNumber.get(result.number);
        if (play) count(summary, play, result);
        onPlay?.(result, summary);
        go();
      });
      worker.on('error', reject);
      go();
    });
  await Promise.all(Array.from({ length: Math.min(threads, plays.length) }, thread));
  return summary;
}

/** Adds what became of one play. */
function count(summary: Summary, play: Play, result: PlayResult): void {
  summary.run += 1;
  summary.operator += result.tally.operator;
  if (result.violation) summary.failed.push(result);
  const idle = result.outcomes.filter(({ did }) => !did);
  const why = impossible(play);
  if (why !== null) {
    summary.impossible += 1;
    if (idle.length === 0) summary.wrongTable.push(`${play.number} ${play.name}: ${why}`);
  } else if (idle.length === 0) summary.all += 1;
  else if (idle.length === 1) summary.one += 1;
  else summary.none += 1;
  for (const { id, did } of result.outcomes) {
    const met = summary.met.get(id) ?? { played: 0, did: 0, pairs: 0 };
    met.played += 1;
    if (did) met.did += 1;
    if (idle.length === 0) met.pairs += 1;
    summary.met.set(id, met);
  }
  for (const { id, what } of idle) add(summary.nothings, `${id}: ${what}`);
  for (const kind of result.stood) add(summary.stood, kind);
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Elements that were played so often and never did anything: nothing is proven about them. */
export function idleElements({ met }: Pick<Summary, 'met'>, often = 8): string[] {
  return [...met].flatMap(([id, { played, did }]) => (played >= often && did === 0 ? [id] : []));
}
