import type { Clock } from '../../src/core/runtime/clock.ts';
import type { Account } from './book.ts';
import { canStopAt, type Point, points } from './coverage.ts';
import type { Random } from './random.ts';
import type { Owner, World } from './world.ts';

/** What is to befall a process: at the nth time that it passes the point, it is killed, or stopped for a while. */
export type Stroke =
  | { kind: 'crash'; point: Point; nth: number }
  /** `suspends`: the whole machine slept, and its monotonic clock with it. */
  | { kind: 'pause'; point: Point; nth: number; ms: number; suspends: boolean };

/** One process from its start to its end. Whatever a dead one waits for never comes. */
export type Life = Owner & {
  name: string;
  /** Where its configuration sends what it sends. */
  account: Account;
  clock: Clock;
  /** How far its own clock is off beside the machine's: it runs on another host. */
  offMs: number;
  /** When it was last stopped, true time. */
  stoppedSince: number;
  /** Passing a point: nothing where nothing happens, else what to wait for. */
  pass(point: Point): Promise<void> | undefined;
  /** The same where nobody can wait: true when it died here. */
  diesAt(point: Point): boolean;
  /** It is to be killed at the nth time from now that it passes the point. */
  strike(point: Point, nth: number): void;
  /** Resolves at its death, for those outside it. */
  died: Promise<void>;
  /** Each of its transactions begins a little later than it could: what runs beside it comes between them. */
  dawdle(drawMs: () => number): void;
  /** What the operating system does when the process is gone. */
  atDeath(action: () => void): void;
  kill(why: string): void;
  stop(ms: number, suspends?: boolean): void;
};

/** Waits for ever. */
export const never = (): Promise<never> => new Promise(() => undefined);

export function createLife(
  world: World,
  { name, account }: Pick<Life, 'name' | 'account'>,
  strokes: Stroke[],
): Life {
  const passed = new Map<Point, number>();
  const closing: (() => void)[] = [];
  const death = Promise.withResolvers<void>();
  let slept = 0;
  let drawDelayMs: (() => number) | null = null;

  const stroke = (point: Point): Stroke | undefined => {
    const times = (passed.get(point) ?? 0) + 1;
    passed.set(point, times);
    return strokes.find((one) => one.point === point && one.nth === times);
  };
  const crash = (point: Point): void => {
    world.coverage.count(`crash: ${point}`);
    life.kill(`killed ${point}`);
  };
  const life: Life = {
    name,
    account,
    alive: true,
    stoppedUntil: 0,
    stoppedSince: 0,
    offMs: 0,
    clock: {
      now: () => Math.floor(world.now() + world.wallError + life.offMs),
      iso: () => new Date(life.clock.now()).toISOString(),
      monotonic: () => world.now() - slept,
      sleep(ms, signal) {
        if (!life.alive) return never();
        if (signal?.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const wake = (): void => {
            signal?.removeEventListener('abort', wake);
            const held = life.pass('waking from a wait');
            if (held) void held.then(resolve);
            else resolve();
          };
          signal?.addEventListener('abort', wake, { once: true });
          world.after(ms, life, wake);
        });
      },
    },
    pass(point) {
      if (!life.alive) return never();
      const found = stroke(point);
      if (!found && drawDelayMs && point === 'before a transaction') {
        const ms = drawDelayMs();
        return new Promise((resolve) => world.after(ms, life, resolve));
      }
      if (!found) return undefined;
      if (found.kind === 'crash') {
        crash(point);
        return never();
      }
      world.coverage.count(`pause: ${point}`);
      life.stop(found.ms, found.suspends);
      return new Promise((resolve) => world.after(found.ms, life, resolve));
    },
    strike(point, nth) {
      strokes.push({ kind: 'crash', point, nth: (passed.get(point) ?? 0) + nth });
    },
    diesAt(point) {
      if (life.alive && stroke(point)?.kind === 'crash') crash(point);
      return !life.alive;
    },
    died: death.promise,
    dawdle(drawMs) {
      drawDelayMs = drawMs;
    },
    atDeath: (action) => void closing.push(action),
    kill(why) {
      if (!life.alive) return;
      life.alive = false;
      world.trace(`${name} ends: ${why}`);
      for (const action of closing) action();
      death.resolve();
    },
    stop(ms, suspends = false) {
      world.trace(`${name} is stopped for ${ms} ms`);
      life.stoppedSince = world.now();
      // A shorter stop within a longer one does not end it.
      life.stoppedUntil = Math.max(life.stoppedUntil, world.now() + ms);
      if (suspends) slept += ms;
    },
  };
  return life;
}

/** How far into a life a point's turn comes, at most: some are passed thousands of times, some a few. */
const furthest: Partial<Record<Point, number>> = {
  'after a statement': 300,
  'before a transaction': 40,
  'before a commit': 40,
  'after a commit': 40,
  'before the wire': 8,
  'as the answer comes': 8,
  'waking from a wait': 12,
  'storing a webhook': 3,
  'as the bytes leave': 4,
};

/** A daemon alone hears webhooks, and waits most: there these are drawn more often, for they are seldom passed. */
const anyPoints = [...points, 'as the bytes leave', 'as the bytes leave'] as const;
const daemonPoints = [
  ...anyPoints,
  'storing a webhook',
  'storing a webhook',
  'storing a webhook',
  'waking from a wait',
  'waking from a wait',
] as const;

/** Draws what befalls one process. The points are equally likely, so that the rare ones are not forgotten. */
export function drawStrokes(random: Random, likelihood: number, kind: string): Stroke[] {
  const all = kind === 'serve' ? daemonPoints : anyPoints;
  const strokes: Stroke[] = [];
  for (let chance = likelihood; strokes.length < 4 && random.chance(chance); chance *= 0.7) {
    const point = random.pick<Point>(all);
    const nth = random.between(1, random.between(1, furthest[point] ?? 20));
    if (canStopAt(point) && random.chance(0.5)) {
      const ms = random.pick([40, 900, 4_900, 5_200, 45_000, 70_000, 600_000, 1_800_000]);
      strokes.push({ kind: 'pause', point, nth, ms, suspends: random.chance(0.2) });
    } else strokes.push({ kind: 'crash', point, nth });
  }
  return strokes;
}
