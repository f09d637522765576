import { counted } from '../../../core/domain/counted.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import type { Html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { DayAhead } from './later.sql.ts';
import { countText, exactAmount } from './parts.ts';

/** What goes out on which later day (P38). */
export function laterTable(later: readonly DayAhead[]): Html {
  const rows = later.map(({ day, currency, count, minor }) => [
    payDayText(day),
    countText(count),
    exactAmount(currency, minor),
  ]);
  return wideTable('Goes out later', ['Day', { number: 'Payouts' }, { number: 'Amount' }], rows);
}

/** The same of one batch, as facts. */
export function laterFacts(later: readonly DayAhead[]): (readonly [string, string])[] {
  return later.map(({ day, currency, count, minor }) => [
    'Not sent before',
    `${payDayText(day)}: ${counted(count, 'payout')}, ${exactAmount(currency, minor)}`,
  ]);
}
