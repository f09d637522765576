import { DateTime } from 'luxon';

/** The instant, ISO UTC, that is written as a day or an ISO time in this zone; null for anything else. */
export function dayOrInstant(text: string, zone: string): string | null {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? DateTime.fromISO(text, { zone }) : undefined;
  const namesOffset = /T.*(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  return time?.isValid ? (namesOffset ? time : firstInstantOf(time)).toUTC().toISO() : null;
}

/** The first instant of the local day that holds `time`. Where a clock change skips midnight, that is the change. */
export function startOfDay(time: DateTime): DateTime {
  return firstInstantOf(time.startOf('day'));
}

/**
 * The first of the two instants at which a clock shows this local time, where it is set back in between. luxon takes
 * either, depending on the offset of today.
 */
export function firstInstantOf(time: DateTime): DateTime {
  return DateTime.min(...time.getPossibleOffsets()) ?? time;
}
