import { createTask } from 'node-cron';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Alarm } from '../../src/runtime/scheduler.ts';
import { watchWallSteps } from '../../src/runtime/wall-steps.ts';
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
    const probe = createTask(job.expression, () => undefined, { timezone });
    let over = false;
    let due: Date | null = null;
    /** No further than an hour ahead: to find a rare time takes long. */
    const dueAfter = (ms: number): Date | null => {
      const first = (Math.floor(ms / minute) + 1) * minute;
      for (let at = first; at <= ms + hour; at += minute) if (probe.match(new Date(at))) return new Date(at);
      return null;
    };
    const arm = (): void => {
      const now = life.clock.now();
      due = dueAfter(now);
      world.after((due?.getTime() ?? now + hour) - now, life, beat);
    };
    const beat = (): void => {
      if (over) return;
      const now = life.clock.now();
      if (due && now < due.getTime()) {
        world.after(due.getTime() - now, life, beat);
        return;
      }
      if (due) ring(due);
      arm();
    };
    arm();
    return {
      next: () => due,
      cancel: () => {
        over = true;
        void probe.destroy();
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
