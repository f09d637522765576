type Face = { day: string; year: string; minute: string; second: string };

const faces = new Map<string, Intl.DateTimeFormat>();

/**
 * An instant as people read it on a terminal: `22 Nov 16:00` in the zone of the reports. The year is added when it is
 * not that of `now`, also ISO. Text that is no instant is unchanged; null is `-`.
 */
export function shortTime(instant: string | null, zone: string, now: string): string {
  if (instant === null) return '-';
  const face = faceOf(instant, zone);
  if (!face) return instant;
  const year = faceOf(now, zone)?.year === face.year ? '' : ` ${face.year}`;
  return `${face.day}${year} ${face.minute}`;
}

/** The same with seconds, for events that follow each other: `22 Nov 15:58:02`. */
export function shortTimeWithSeconds(instant: string | null, zone: string, now: string): string {
  const face = instant === null ? undefined : faceOf(instant, zone);
  return face ? `${shortTime(instant, zone, now)}:${face.second}` : shortTime(instant, zone, now);
}

/** The texts that stand for more than one: where instants look alike, a reader needs their seconds. */
export function repeatedTexts(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.filter((text, at) => texts.indexOf(text) !== at));
}

function faceOf(instant: string, zone: string): Face | undefined {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) return undefined;
  const format = faces.get(zone) ?? formatFor(zone);
  faces.set(zone, format);
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { day = '', month = '', year = '', hour = '', minute = '', second = '' } = parts;
  return { day: `${day} ${month}`, year, minute: `${hour}:${minute}`, second };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

/** `12 s`. */
export function secondsText(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
