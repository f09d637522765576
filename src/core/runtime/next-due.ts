import { IANAZone } from 'luxon';
import { createTask, parse } from 'node-cron';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The rarest usual schedule is 29 February; around 2100 it is due once in eight years. */
const searchMs = 9 * 366 * dayMs;
/** The search goes on by the longest of these in which the zone's clock does not change. */
const spans = [dayMs, hourMs, minuteMs];

/**
 * Returns the first due time of a cron expression after `afterMs`, up to `upToMs`; null without one. node-cron only
 * parses and matches: its own next times are wrong where clocks change. A time that a clock change skips is due right
 * after the change. A time that happens twice is due the first time. An expression of every hour is due each time.
 */
export function nextDue(
  expression: string,
  timezone: string,
  afterMs: number,
  upToMs = afterMs + searchMs,
): Date | null {
  if (expression.trim() === '') return null;
  const { seconds, everyHour, matches, matchesDay } = cronOf(expression);
  const localClock = localClockOf(timezone);
  const isDue = (local: number, latest: number): boolean => {
    if (everyHour) return matches(local);
    // Each local minute counts once: when the clock first reaches it, or jumps over it.
    for (let at = latest + minuteMs; at <= local; at += minuteMs) if (matches(at)) return true;
    return false;
  };

  // The search begins a day early: a clock that was set back since then shows minutes that it showed before.
  let start = Math.floor(afterMs / minuteMs) * minuteMs - dayMs;
  /** The latest local minute so far. */
  let latest = localClock(start - minuteMs);
  while (start <= upToMs) {
    const first = localClock(start);
    const span = spans.find((ms) => localClock(start + ms - minuteMs) - first === ms - minuteMs) ?? minuteMs;
    const [end, last] = [start + span, first + span - minuteMs];
    const mayMatch = first !== latest + minuteMs || matchesDay(first) || matchesDay(last);
    for (let at = start; end > afterMs && mayMatch && at < end; at += minuteMs) {
      const local = first + at - start;
      if (at + minuteMs > afterMs && isDue(local, latest)) {
        const due = seconds.map((second) => at + second * 1000).find((ms) => ms > afterMs);
        if (due !== undefined) return due <= upToMs ? new Date(due) : null;
      }
      latest = Math.max(latest, local);
    }
    latest = Math.max(latest, last);
    start = end;
  }
  return null;
}

/** Reads a zone's wall clock: the minute it shows at an instant, as the instant at which UTC shows the same. */
function localClockOf(timezone: string): (ms: number) => number {
  const zone = IANAZone.create(timezone);
  return (ms) => ms + zone.offset(ms) * minuteMs;
}

/** The expressions read so far. There are as many as schedules, and reading one takes longer than most searches. */
const crons = new Map<string, ReturnType<typeof readCron>>();

function cronOf(expression: string): ReturnType<typeof readCron> {
  const cron = crons.get(expression) ?? readCron(expression);
  crons.set(expression, cron);
  return cron;
}

/** What an expression matches, in minutes of a wall clock. node-cron says which days: it knows `L`, `15W` and `5#2`. */
function readCron(expression: string) {
  const { second, minute, hour } = parse(expression);
  const [minutes, hours] = [new Set(minute), new Set(hour)];
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  void task.destroy();
  const [firstHour = 0, firstMinute = 0, firstSecond = 0] = [hour[0], minute[0], second[0]];
  const inDayMs = firstHour * hourMs + firstMinute * minuteMs + firstSecond * 1000;
  let known = { day: Number.NaN, matches: false };
  const matchesDay = (local: number): boolean => {
    const day = Math.floor(local / dayMs) * dayMs;
    if (known.day !== day) known = { day, matches: task.match(new Date(day + inDayMs)) };
    return known.matches;
  };
  return {
    seconds: second.toSorted((a, b) => a - b),
    everyHour: hours.size === 24,
    matchesDay,
    matches: (local: number): boolean =>
      minutes.has((local / minuteMs) % 60) && hours.has(Math.floor(local / hourMs) % 24) && matchesDay(local),
  };
}
