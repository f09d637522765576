import { counted } from '../../../core/domain/counted.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { DayAhead } from './later.sql.ts';
import { countText, exactAmount } from './parts.ts';

/** What goes out on which later day (P38), beside what `submission.daily_limit` lets go in a day. */
export function laterTable(later: readonly DayAhead[], limits: ReadonlyMap<string, bigint>): Html {
  const rows = later.map(({ day, currency, count, minor }) => {
    const limit = limits.get(currency);
    const over = limit !== undefined && minor > limit;
    const most =
      limit !== undefined &&
      html`<br><small class="${over ? 'warn' : 'soft'}">${over ? 'more than' : 'of'} ${exactAmount(currency, limit)} a day</small>`;
    return [payDayText(day), countText(count), html`${exactAmount(currency, minor)}${most}`];
  });
  return wideTable('Goes out later', ['Day', { number: 'Payouts' }, { number: 'Amount' }], rows);
}

/** The same of one batch, as facts. */
export function laterFacts(later: readonly DayAhead[]): (readonly [string, string])[] {
  return later.map(({ day, currency, count, minor }) => [
    'Not sent before',
    `${payDayText(day)}: ${counted(count, 'payout')}, ${exactAmount(currency, minor)}`,
  ]);
}
