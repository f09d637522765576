import { DateTime } from 'luxon';
import { createTask } from 'node-cron';

const minute = 60_000;
const hour = 60 * minute;

/** Zones with every kind of clock change, and some with none. */
export const zones = [
  ...['Europe/Vienna', 'Europe/London', 'Europe/Dublin', 'Europe/Lisbon', 'Europe/Chisinau', 'Europe/Kyiv'],
  ...['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Anchorage'],
  ...['America/Adak', 'America/St_Johns', 'America/Halifax', 'America/Havana', 'America/Nuuk'],
  ...[
    'America/Scoresbysund',
    'America/Miquelon',
    'America/Asuncion',
    'America/Santiago',
    'America/Port-au-Prince',
  ],
  ...['Pacific/Easter', 'Pacific/Auckland', 'Pacific/Chatham', 'Pacific/Norfolk', 'Pacific/Apia'],
  ...['Australia/Sydney', 'Australia/Adelaide', 'Australia/Lord_Howe', 'Asia/Beirut', 'Asia/Jerusalem'],
  ...['Asia/Gaza', 'Asia/Kolkata', 'Asia/Kathmandu', 'Africa/Cairo', 'Africa/Casablanca', 'Africa/El_Aaiun'],
  ...['Africa/Lagos', 'Antarctica/Troll', 'Atlantic/Azores'],
];

export type Span = { from: number; to: number };

/** The instants from `from` up to `to` at which the zone's clock has just changed, found by looking at each day. */
export function clockChanges(zone: string, { from, to }: Span): number[] {
  const offset = (at: number): number => DateTime.fromMillis(at, { zone }).offset;
  const found: number[] = [];
  for (let at = from; at < to; at += 24 * hour) {
    if (offset(at) === offset(at + 24 * hour)) continue;
    let change = at;
    while (offset(change) === offset(at)) change += minute;
    found.push(change);
  }
  return found;
}

/**
 * Searches from the side of the local calendar: for each day and each time of it (`02:30`), the first minute at which
 * the zone's clock shows it, or otherwise the first one that shows a later time. Sorted, each once.
 */
export function searchFixedTimes(times: readonly string[], zone: string, { from, to }: Span): string[] {
  const due = new Set<number>();
  const shown = (at: number): string => DateTime.fromMillis(at, { zone }).toFormat("yyyy-MM-dd'T'HH:mm");
  const firstDay = DateTime.fromMillis(from, { zone }).minus({ days: 1 }).toISODate() ?? '';
  for (
    let day = DateTime.fromISO(firstDay, { zone: 'utc' });
    day.toMillis() < to + 24 * hour;
    day = day.plus({ days: 1 })
  )
    for (const time of times) {
      const wanted = `${day.toISODate()}T${time}`;
      const utc = Date.parse(`${wanted}Z`);
      // Whole quarter hours: the offsets of all zones today.
      const tries = offsetsOf(zone).map((offset) => utc - offset * minute);
      const exact = tries.filter((at) => shown(at) === wanted);
      let at = Math.min(...(exact.length > 0 ? exact : tries));
      while (shown(at) < wanted) at += minute;
      if (at > from && at <= to) due.add(at);
    }
  return [...due].toSorted((a, b) => a - b).map(text);
}

const offsets = new Map<string, number[]>();

/** The offsets that a zone had or will have between 2010 and 2040, in minutes. */
function offsetsOf(zone: string): number[] {
  const known = offsets.get(zone) ?? [];
  if (known.length > 0) return known;
  const found = new Set<number>();
  for (let at = Date.UTC(2010, 0, 1); at < Date.UTC(2040, 0, 1); at += 72 * hour)
    found.add(DateTime.fromMillis(at, { zone }).offset);
  offsets.set(zone, [...found]);
  return [...found];
}

/** Asks node-cron at each minute whether the expression matches. */
export function searchMatches(expression: string, zone: string, { from, to }: Span): string[] {
  const task = createTask(expression, () => undefined, { timezone: zone });
  void task.destroy();
  const found: string[] = [];
  for (let at = (Math.floor(from / minute) + 1) * minute; at <= to; at += minute)
    if (task.match(new Date(at))) found.push(text(at));
  return found;
}

export function text(at: number): string {
  return new Date(at).toISOString().slice(0, 16);
}
