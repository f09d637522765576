import { DateTime } from 'luxon';
import { grouped } from '../../../core/domain/counted.ts';

export { amountText } from '../../../core/domain/counted.ts';
export { plainKind } from '../../../core/domain/plain-kind.ts';

/** An instant as the page's heading has it: `21 Nov 2026, 14:05`. Other text is unchanged. */
export function headingTime(instant: string, zone: string): string {
  const time = DateTime.fromISO(instant, { zone, locale: 'en-US' });
  return time.isValid ? time.toFormat('d LLL yyyy, HH:mm') : instant;
}

/** A day of a sheet (`2026-11-21`) as `21 Nov 2026`. Other text is unchanged. */
export function dayText(day: string): string {
  const time = DateTime.fromISO(day, { zone: 'utc', locale: 'en-US' });
  return time.isValid ? time.toFormat('d LLL yyyy') : day;
}

/** The instants inside a sentence, in the zone of the reports. */
export function localTimes(sentence: string, zone: string): string {
  return sentence.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z\b|[+-]\d\d:\d\d\b)/g, (instant) =>
    headingTime(instant, zone),
  );
}

/** The amounts inside a text, grouped: `pending 198750.00` as `pending 198,750.00`. Only decimals with a point count. */
export function groupedInside(text: string): string {
  return text.replaceAll(/(?<![\w.,/:-])-?\d{4,}\.\d{1,4}(?![\w.])/g, grouped);
}

/** A difference with its sign: `+176,300.75`, `−10.00`. Other text is unchanged. */
export function signed(decimal: string): string {
  return /^\d/.test(decimal) && /[1-9]/.test(decimal) ? `+${grouped(decimal)}` : grouped(decimal);
}

/** A length of time with the two units that matter: `45 s`, `1 min 5 s`, `2 d 3 h`. */
export function duration(seconds: number): string {
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  const [unit, next] = [units[first === -1 ? 3 : first], units[first === -1 ? 4 : first + 1]];
  if (!unit) return `${seconds} s`;
  const whole = Math.floor(seconds / unit[1]);
  const rest = next ? Math.floor((seconds - whole * unit[1]) / next[1]) : 0;
  return `${whole} ${unit[0]}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`;
}

/** A text from outside, cut before it fills the page. */
export function shortened(text: string, most = 160): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
