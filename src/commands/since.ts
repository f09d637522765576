import { DateTime } from 'luxon';
import { Stop } from './result.ts';

/** The instant, ISO UTC, that a person wrote as a day or an ISO time in this zone. Anything else stops with 2. */
export function sinceInstant(text: string, zone: string): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? DateTime.fromISO(text, { zone }) : undefined;
  const instant = time?.isValid ? time.toUTC().toISO() : null;
  if (instant) return instant;
  throw new Stop(
    2,
    `--since: expected a day or a time such as 2026-11-22 or 2026-11-22T16:00, got "${text}"`,
  );
}
