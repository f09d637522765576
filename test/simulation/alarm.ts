import type { Clock } from '../../src/core/runtime/clock.ts';
import { nextDue } from '../../src/core/runtime/next-due.ts';
import type { Alarm } from '../../src/core/runtime/scheduler.ts';
import { watchWallSteps } from '../../src/core/runtime/wall-steps.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

const minute = 60_000;
const hour = 60 * minute;

/**
 * The timers of the scheduler in virtual time. They wait for the due time as the wall clock had it
 * when they were set: a clock that is set back lets them wait again, one that is set forward makes them late.
 */
export function createAlarm(world: World, life: Life): Alarm {
  return (job, timezone, ring) => {
    let over = false;
    let due: Date | null = null;
    /** Nothing is due up to here that has not rung: a process that stood still rings late. */
    let searchedTo = life.clock.now();
    const arm = (): void => {
      const now = life.clock.now();
      // Looks again each hour: the clock may step.
      due = nextDue(job.expression, timezone, Math.min(searchedTo, now), now + hour);
      searchedTo = now + hour;
      world.after((due?.getTime() ?? now + hour) - now, life, beat);
    };
    const beat = (): void => {
      if (over) return;
      const now = life.clock.now();
      if (due && now < due.getTime()) {
        world.after(due.getTime() - now, life, beat);
        return;
      }
      if (due) {
        ring(due);
        searchedTo = now;
      }
      arm();
    };
    arm();
    return {
      next: () => due,
      cancel: () => {
        over = true;
      },
    };
  };
}

/** The watch over steps of the wall clock, which looks once a minute here: looking each second would take all the time. */
export function watchSteps(
  world: World,
  life: Life,
  watch: Parameters<typeof watchWallSteps>[1],
): Promise<void> {
  const sleep: Clock['sleep'] = () => new Promise((resolve) => world.after(minute, life, resolve));
  return watchWallSteps({ ...life.clock, sleep }, watch);
}
