import { DateTime } from 'luxon';

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
