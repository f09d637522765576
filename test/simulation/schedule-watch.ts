import { dueTimes, readRhythm } from './due-times.ts';
import type { Inspector } from './inspector.ts';
import type { WriteLock } from './ledger-seam.ts';
import type { Life } from './life.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/**
 * The oracle of schedules where the zone's clock changes: each due time of a daemon has its run soon after, and a day's
 * fixed time has one run, whether the clock skips it or shows it twice.
 */
export type ScheduleWatch = {
  /** The scheduler of a process begins to ring; it ends with the process, or when that is asked to stop. */
  armed(life: Life, jobs: readonly { name: string; expression: string }[]): { disarm(): void };
  /** A run of the job begins, in whatever process. */
  begins(job: string): { ended(): void };
};

const minute = 60_000;
/** What a start, a locked ledger and pauses of the seed may delay. */
const slackMs = 10 * minute;

type Timetable = { expression: string; isDaily: boolean; nextDue(afterMs: number): number };
/** `lastAt`: when a run was under way last, as far as begins and ends tell. */
type Runs = { underWay: number; lastAt: number };

export function createScheduleWatch(deps: {
  world: World;
  weather: Weather;
  inspector: Inspector;
  lock: WriteLock;
}): ScheduleWatch {
  const { world, weather, inspector, lock } = deps;
  const { zone } = weather.long;
  if (zone === null) return { armed: () => ({ disarm: nothing }), begins: () => ({ ended: nothing }) };
  const timetables = new Map<string, Timetable>();
  const runs = new Map<string, Runs>();
  const runsOf = (job: string): Runs => {
    const known = runs.get(job) ?? { underWay: 0, lastAt: 0 };
    runs.set(job, known);
    return known;
  };

  function timetableOf(expression: string): Timetable {
    const rhythm = readRhythm(expression);
    return {
      expression,
      isDaily: 'daily' in rhythm,
      nextDue: dueTimes(rhythm, zone?.name ?? 'UTC', weather.startsAt),
    };
  }

  /** P33: the run that is due then begins soon, is under way already, or has had reasons to wait. */
  function expectRun(life: Life, job: string, isOver: () => boolean): void {
    const timetable = timetables.get(job);
    if (!timetable) return;
    const due = timetable.nextDue(world.now());
    const look = (): void => {
      if (isOver() || !life.alive) return;
      const { underWay, lastAt } = runsOf(job);
      const busyUntil = Math.max(life.stoppedUntil, lock.longHeldUntil());
      if (underWay === 0 && lastAt < due) {
        // Who could not note its run in the ledger gives up. A fixed time is made up, another comes at its next turn.
        const wasBusy = busyUntil > due && !timetable.isDaily;
        const lookAt = (wasBusy ? timetable.nextDue(busyUntil) : busyUntil) + slackMs;
        if (lookAt > world.now()) {
          world.after(lookAt - world.now(), life, look);
          return;
        }
        const detail = `${job} (${timetable.expression} in ${zone?.name}) of ${life.name}`;
        world.violate('P33: what is due runs', `${detail} was due at ${new Date(due).toISOString()}`);
      } else if (timetable.isDaily) countChange(due);
      expectRun(life, job, isOver);
    };
    world.after(due + slackMs - world.now(), life, look);
  }

  function countChange(due: number): void {
    if (zone && Math.abs(due - zone.changesAt) <= 2 * 60 * minute)
      world.coverage.count(`zone: due where the clock goes ${zone.way}`);
  }

  /** P33: what succeeded since a day's fixed time does not run again before the next. */
  function judgeTwice(job: string): void {
    const timetable = timetables.get(job);
    if (!timetable?.isDaily) return;
    const [row] = inspector.rows<{ at: string | null }>(
      'select last_success_at as at from jobs where job = ?',
      job,
    );
    if (!row?.at) return;
    const next = timetable.nextDue(Date.parse(row.at));
    if (next > world.now())
      world.violate(
        'P33: a fixed time runs once',
        `${job} (${timetable.expression} in ${zone?.name}) succeeded at ${row.at}, and begins again`,
      );
  }

  return {
    armed(life, jobs) {
      let over = false;
      for (const { name, expression } of jobs) {
        if (expression === '') continue;
        if (!timetables.has(name)) timetables.set(name, timetableOf(expression));
        expectRun(life, name, () => over);
      }
      if (zone.changesAt > world.now())
        world.after(zone.changesAt - world.now(), life, () => {
          if (!over) world.coverage.count(`zone: the clock goes ${zone.way} under a daemon`);
        });
      return {
        disarm: () => {
          over = true;
        },
      };
    },
    begins(job) {
      judgeTwice(job);
      const own = runsOf(job);
      own.lastAt = world.now();
      own.underWay += 1;
      return {
        ended: () => {
          own.underWay -= 1;
          own.lastAt = world.now();
        },
      };
    },
  };
}

function nothing(): void {}
