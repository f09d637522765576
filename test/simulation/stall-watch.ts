import type { Life } from './life.ts';
import type { World } from './world.ts';

/** Work of a process that must go on or end; `done` when it has ended. */
export type StallWatch = {
  begins(life: Life, what: string): { done(): void };
};

/** Longer than any pause that the service asks for, any time-out, and what a locked ledger makes others wait. */
const longestMs = 20 * 60_000;
const everyMs = 5 * 60_000;

/**
 * P33: work goes on or says why not, whatever the wall clock shows: no process that is awake has work under way for long
 * without asking the service for anything.
 */
export function createStallWatch(world: World, silentSince: (life: Life) => number): StallWatch {
  return {
    begins(life, what) {
      let over = false;
      const began = world.now();
      const look = (): void => {
        if (over || !life.alive) return;
        const since = Math.max(began, silentSince(life), life.stoppedUntil);
        const ms = world.now() - since;
        if (ms > longestMs)
          world.violate('P33: what waits goes on', `${what} of ${life.name} stands still for ${ms} ms`);
        else world.after(everyMs, life, look);
      };
      world.after(everyMs, life, look);
      return {
        done: () => {
          over = true;
        },
      };
    },
  };
}
