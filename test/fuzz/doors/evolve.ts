import { randomFrom } from '../mutations.ts';
import { changer } from './change.ts';
import type { Coverage } from './coverage.ts';

/** A way in for bytes that others write. */
export type Door = {
  /** Inputs to begin with. */
  seeds: readonly (string | Buffer)[];
  /** What the inputs of this door are made of. */
  words: readonly string[];
  /** Takes an input in; returns what is false then, if anything. Whatever it throws is a fault. */
  enter(input: Buffer): string | undefined | Promise<string | undefined>;
};

export type Limits = { inputs: number; seconds: number; seed: number };
export type Evolved = {
  inputs: number;
  /** Each kind of fault once, with its input in base64. */
  faults: { at: number; what: string; input: string }[];
  slowestMs: number;
  highestMiB: number;
  /** The inputs that reached code which none before them had. */
  corpus: Buffer[];
};

const mostMs = 1000;
/** Beside the 100 MiB of the program and the fuzzer. */
const mostMiB = 200;
const mostFaults = 20;
const groupSizes = { least: 1, most: 4096, bytes: 4_000_000 };

/**
 * Lets inputs in, keeps those that reach new code, and changes these further. The seed alone decides the inputs and
 * their order; the time decides only how many there are.
 */
export async function evolve(door: Door, coverage: Coverage, limits: Limits): Promise<Evolved> {
  const random = randomFrom(limits.seed);
  const until = performance.now() + limits.seconds * 1000;
  const done: Evolved = { inputs: 0, faults: [], slowestMs: 0, highestMiB: 0, corpus: [] };
  const kinds = new Set<string>();
  const enter = async (input: Buffer): Promise<void> => {
    const { ms, what } = await judged(door, input);
    done.slowestMs = Math.max(done.slowestMs, ms);
    if (what === undefined) return;
    const kind = what.replace(/\d+/g, '').slice(0, 60);
    if (kinds.has(kind) || kinds.size >= mostFaults) return;
    kinds.add(kind);
    done.faults.push({ at: done.inputs, what, input: input.toString('base64') });
  };
  /** Reading coverage takes long: a group is read once, and halved only while it holds something new. */
  const isolate = async (group: readonly Buffer[]): Promise<void> => {
    for (const input of group) if (performance.now() < until) await enter(input);
    const taken = coverage.take();
    if (!coverage.isNew(taken)) return;
    if (group.length === 1) done.corpus.push(...group);
    else for (const half of halves(group)) await isolate(half);
    coverage.keep(taken);
  };
  const seeds = door.seeds.map((seed) => Buffer.from(seed));
  const change = changer(random, door.words);
  coverage.keep(coverage.take());
  for (const seed of seeds) await isolate([seed]);
  done.inputs = seeds.length;
  for (let size = groupSizes.least; done.inputs < limits.inputs && performance.now() < until; ) {
    const before = done.corpus.length;
    const from = [...seeds, ...done.corpus];
    const most = Math.min(size, limits.inputs - done.inputs);
    const group: Buffer[] = [];
    for (let bytes = 0; group.length < most && bytes < groupSizes.bytes; bytes += group.at(-1)?.length ?? 0)
      group.push(change(from));
    await isolate(group);
    done.inputs += group.length;
    done.highestMiB = process.resourceUsage().maxRSS / 1024;
    const isFruitful = done.corpus.length > before;
    size = isFruitful ? Math.max(groupSizes.least, size / 2) : Math.min(groupSizes.most, size * 2);
  }
  return done;
}

/** What is wrong with how an input was taken. A slow one is tried again: the machine may have been busy. */
async function judged(door: Door, input: Buffer): Promise<{ ms: number; what: string | undefined }> {
  let ms = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && ms > mostMs; tries++) {
    const [began, used, rss] = [performance.now(), process.cpuUsage(), process.memoryUsage.rss()];
    let what: string | undefined;
    try {
      what = await door.enter(input);
    } catch (error) {
      what = `threw ${error instanceof Error ? error.stack : String(error)}`;
    }
    const { user, system } = process.cpuUsage(used);
    // Beside other programs only the time of the processor says how slow it was.
    ms = Math.min(ms, performance.now() - began, (user + system) / 1000);
    const miB = (process.memoryUsage.rss() - rss) / 2 ** 20;
    what ??= miB > mostMiB ? `needs ${Math.round(miB)} MiB` : undefined;
    if (what !== undefined) return { ms, what };
  }
  return { ms, what: ms > mostMs ? `took ${Math.round(ms)} ms` : undefined };
}

function halves<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
