import { counted, grouped } from '../../../core/domain/counted.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { type DayAhead, type DaysAhead, mostHeld } from './later.sql.ts';
import { countText, exactAmount } from './parts.ts';

/** What goes out on which later day (P38), held payouts among it, beside what `submission.daily_limit` lets go in a day. */
export function laterTable({ ready, held }: DaysAhead, limits: ReadonlyMap<string, bigint>): Html {
  const all = [...ready, ...(held ?? [])];
  const days = [...Map.groupBy(all, ({ day, currency }) => `${day} ${currency}`)];
  const inOrder = days.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = inOrder.flatMap(([, parts]) => {
    const [first] = parts;
    if (!first) return [];
    const { day, currency } = first;
    const minor = parts.reduce((sum, one) => sum + one.minor, 0n);
    const waits = parts.find((one) => held?.includes(one));
    const limit = limits.get(currency);
    const over = limit !== undefined && minor > limit;
    const most =
      limit !== undefined &&
      html`<br><small class="${over ? 'warn' : 'soft'}">${over ? 'more than' : 'of'} ${exactAmount(currency, limit)} a day</small>`;
    const count = parts.reduce((sum, one) => sum + one.count, 0);
    const isHeld = waits && html`<br><small class="warn">${countText(waits.count)} held</small>`;
    return [
      [
        payDayText(day),
        html`${countText(count)}${isHeld ?? ''}`,
        html`${exactAmount(currency, minor)}${most}`,
      ],
    ];
  });
  const more =
    held === null &&
    html`<p>More than ${grouped(`${mostHeld}`)} payouts are held: the page of each <a href="/batches">batch</a> says on which day it would go.</p>`;
  return html`${rows.length > 0 && wideTable('Goes out later', ['Day', { number: 'Payouts' }, { number: 'Amount' }], rows)}${more}`;
}

/** The same of one batch, as facts. */
export function laterFacts(later: readonly DayAhead[]): (readonly [string, string])[] {
  return later.map(({ day, currency, count, minor }) => [
    'Not sent before',
    `${payDayText(day)}: ${counted(count, 'payout')}, ${exactAmount(currency, minor)}`,
  ]);
}
