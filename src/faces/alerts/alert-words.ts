import { DateTime } from 'luxon';
import { grouped } from '../../core/domain/counted.ts';
import { findingWords } from '../../words/finding-words.ts';
import type { Notice } from './message.ts';

/** How the texts of a message are made: the time zone of its times, and the dashboard's address, if any. */
export type Style = { timezone: string; dashboardUrl: string };

const labels: Record<Notice['change'], string> = {
  raised: 'ALERT',
  grown: 'MORE',
  repeated: 'STILL',
  cleared: 'CLEARED',
};

/** The lines about one alert: what is wrong, how much, since when, what to do, and the link. */
export function noticeLines(notice: Notice, style: Style): string[] {
  const { problem, over, fix, path } = findingWords[notice.kind].alerts(notice);
  const since = shortTime(notice.since, style.timezone);
  if (notice.change === 'cleared') return [`CLEARED  ${over} (since ${since}).`];
  const more = notice.count > notice.names.length ? ', …' : '';
  return [
    `${labels[notice.change]}  ${problem}${notice.change === 'raised' ? '' : ` Since ${since}.`}`,
    ...Object.entries(notice.totals).map(([currency, amount]) => `  ${currency} ${grouped(amount)}`),
    ...(notice.names.length > 0 ? [`  ${notice.names.join(', ')}${more}`] : []),
    `  What to do: ${fix}`,
    ...linkLines(style, path),
  ];
}

/** The link to a page of the dashboard; none where no dashboard is configured. */
export function linkLines({ dashboardUrl }: Style, path: string): string[] {
  return dashboardUrl === '' ? [] : [`  ${dashboardUrl.replace(/\/+$/, '')}${path}`];
}

/** An instant as people read it, such as `22 Nov 16:00`. */
function shortTime(at: string, zone: string): string {
  return DateTime.fromISO(at, { zone }).setLocale('en').toFormat('d LLL HH:mm');
}

export function noticeTitle(notice: Notice): string {
  const { problem, over } = findingWords[notice.kind].alerts(notice);
  const title = (problem.split(/[.:] /)[0] ?? problem).replace(/\.$/, '');
  return notice.change === 'cleared' ? `Cleared: ${over}` : title;
}
