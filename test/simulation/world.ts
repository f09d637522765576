import { createHash } from 'node:crypto';
import { createAgenda } from './agenda.ts';
import type { Coverage } from './coverage.ts';
import type { Random } from './random.ts';

/** Whoever an event happens to. The dead do not hear it; the stopped hear it when they are woken. */
export type Owner = { alive: boolean; stoppedUntil: number };

/** Who works while nothing else happens. */
type Mortal = Owner & { died: Promise<void> };

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
  /** Real file I/O: no event happens until it is over, or its owner dead: the only steps that take real time. */
  exclusively<T>(work: () => Promise<T>, owner: Mortal): Promise<T>;
  isExclusive(): boolean;
  /** Exclusive work that waits lets others go on meanwhile; gives what it must call before it goes on itself, if any. */
  pauseExclusive(owner: Owner): (() => void) | null;
  /** Nobody is in a transaction: exclusive work may begin, or go on. */
  isQuiet(): boolean;
  /** What anybody but its owner must wait for before it takes what the exclusive work may need. */
  othersWork(life: Owner): Promise<void> | undefined;
  hash(): string;
  lines: string[];
};

/** A turn of exclusive work: it ends with the work, with a pause of it, or with its owner. */
type Slot = { owner: Mortal; over: Promise<void>; isOver: boolean; end: () => void };

const mostSteps = 400_000;

export function createWorld(deps: {
  random: Random;
  coverage: Coverage;
  startsAt: number;
  keepTrace: boolean;
}): World {
  const agenda = createAgenda();
  const order = deps.random.fork('order');
  const digest = createHash('sha256');
  const settling: (() => Promise<void>)[] = [];
  const lines: string[] = [];
  let now = deps.startsAt;
  let steps = 0;
  let found: Violation | undefined;
  let exclusive: Slot | undefined;
  const slots = new Map<Owner, Slot>();

  function enter(owner: Mortal): Slot {
    const done = Promise.withResolvers<void>();
    const slot: Slot = { owner, over: Promise.resolve(), isOver: false, end: done.resolve };
    slot.over = Promise.race([done.promise, owner.died]).then(() => {
      slot.isOver = true;
    });
    slots.set(owner, slot);
    exclusive = slot;
    return slot;
  }

  /** All that the step set going is microtasks, since SQLite answers at once: one turn of the event loop sees their end. */
  const drain = async (): Promise<void> => {
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    while (exclusive) {
      await exclusive.over;
      exclusive = undefined;
      await turn();
    }
    for (let next = settling.shift(); next; next = settling.shift()) await next();
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
    exclusively(work, owner) {
      enter(owner);
      return work().finally(() => {
        slots.get(owner)?.end();
        slots.delete(owner);
      });
    },
    isExclusive: () => exclusive !== undefined,
    pauseExclusive(owner) {
      const slot = slots.get(owner);
      slot?.end();
      return slot ? () => void enter(slot.owner) : null;
    },
    isQuiet: () => true,
    othersWork(life) {
      return exclusive && !exclusive.isOver && exclusive.owner !== life ? exclusive.over : undefined;
    },
    hash: () => digest.copy().digest('hex'),
    lines,
  };
  return world;
}
