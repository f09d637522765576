import { createHash } from 'node:crypto';
import { createAgenda } from './agenda.ts';
import type { Coverage } from './coverage.ts';
import { watchThreads, whenIdle } from './idle.ts';
import type { Random } from './random.ts';

/** Whoever an event happens to. The dead do not hear it; the stopped hear it when they are woken. */
export type Owner = { alive: boolean; stoppedUntil: number };

/** What must hold and did not. `about` is the reference it concerns, if one. */
export type Violation = { invariant: string; detail: string; about: string | null };

/** Virtual time, the order of all events, and the trace of what happened. */
export type World = {
  random: Random;
  coverage: Coverage;
  /** True time, milliseconds since the epoch; what our machine's clock shows may differ by {@link World.wallError}. */
  now(): number;
  wallError: number;
  /** Runs `action` after so many milliseconds; among simultaneous events the seed decides who is first. */
  after(ms: number, owner: Owner | null, action: () => void): void;
  /** Runs once the present step is over, before the next event. */
  settle(action: () => Promise<void>): void;
  trace(line: string): void;
  /** Keeps the first; the run ends after the present step. */
  violate(invariant: string, detail: string, about?: string | null): void;
  violation(): Violation | undefined;
  /** Runs events until that time, until a violation, or until there are none. */
  runUntil(ms: number): Promise<void>;
  hash(): string;
  lines: string[];
};

const mostSteps = 400_000;

export function createWorld(deps: {
  random: Random;
  coverage: Coverage;
  startsAt: number;
  keepTrace: boolean;
}): World {
  watchThreads();
  const agenda = createAgenda();
  const order = deps.random.fork('order');
  const digest = createHash('sha256');
  const settling: (() => Promise<void>)[] = [];
  const lines: string[] = [];
  let now = deps.startsAt;
  let steps = 0;
  let found: Violation | undefined;

  /** A step is over when nothing that it set going moves any more, files included; then come the ends of the dead. */
  const drain = async (): Promise<void> => {
    await whenIdle();
    for (let next = settling.shift(); next; next = settling.shift()) {
      await next();
      await whenIdle();
    }
  };
  const world: World = {
    random: deps.random,
    coverage: deps.coverage,
    now: () => now,
    wallError: 0,
    after: (ms, owner, action) => agenda.add({ at: now + Math.max(0, ms), tie: order.next(), owner, action }),
    settle: (action) => void settling.push(action),
    trace(line) {
      const text = `${new Date(now).toISOString()} ${line}`;
      digest.update(`${text}\n`);
      if (deps.keepTrace) lines.push(text);
    },
    violate(invariant, detail, about = null) {
      found ??= { invariant, detail, about };
    },
    violation: () => found,
    async runUntil(until) {
      for (let event = agenda.next(until); event && !found; event = agenda.next(until)) {
        now = Math.max(now, event.at);
        const { owner } = event;
        if (owner && !owner.alive) continue;
        if (owner && owner.stoppedUntil > now) {
          agenda.add({ ...event, at: owner.stoppedUntil });
          continue;
        }
        event.action();
        await drain();
        if (++steps > mostSteps) world.violate('everything comes to rest', `${mostSteps} steps and no end`);
      }
      if (!found) now = Math.max(now, until);
    },
    hash: () => digest.copy().digest('hex'),
    lines,
  };
  return world;
}
