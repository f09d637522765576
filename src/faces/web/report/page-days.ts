import { DateTime } from 'luxon';
import { decimalsOf, type NamedCells, totalOf } from '../../../books/sheet.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { lineWords } from '../../../words/line-words.ts';
import { type DayValue, dayBarsSpec, dayLinesSpec } from './charts-days.ts';
import { figure, numberColumn, type Part, textColumn } from './page-figure.ts';
import { amountText, dayText, duration } from './page-words.ts';

/** The columns of the sheet, and the lines of the statement that they are. */
const series = ['submitted', 'settled'] as const;
const seriesName = (one: (typeof series)[number]): string => lineWords[one].toLowerCase();
const { submitted: submittedName, settled: paidName } = lineWords;
const speeds = ['median', '95th percentile'];
const units: [string, number][] = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
];

/** The most days that are drawn; the sheets hold 31. */
const longest = 62;

export const daysPart: Part = async (rows, { currency, id, draw }) => {
  const busiest = rows.toSorted((a, b) => Number(b.submitted) - Number(a.submitted))[0];
  const sentText = `${submittedName} ${counted(totalOf(rows, 'submitted'), 'payout')} worth ${amountText(currency, decimalsOf(rows, 'submitted_amount'))}`;
  const settledText = `${amountText(currency, decimalsOf(rows, 'settled_amount'))}`;
  if (rows.length === 1) {
    const text = `${sentText} and ${seriesName('settled')} ${settledText}, all on ${dayText(rows[0]?.day ?? '')}.`;
    return [{ kind: 'line', text }];
  }
  const days = everyDay(rows);
  const values = (suffix: string): DayValue[] =>
    rows.flatMap((row) =>
      series.map((one) => ({
        day: row.day ?? '',
        series: seriesName(one),
        value: Number(row[`${one}${suffix}`]),
      })),
    );
  const drawn = (suffix: string, title: string) =>
    dayBarsSpec(values(suffix), days, series.map(seriesName), title);
  const numbers = await figure(draw, drawn('', 'payouts'), {
    id: `${id}-volume`,
    currency,
    title: 'payouts a day',
    summary: `${sentText}; most on ${dayText(busiest?.day ?? '')} (${grouped(busiest?.submitted ?? '')}).`,
    columns: [dayColumn('Day'), numberColumn(submittedName, 'submitted'), numberColumn(paidName, 'settled')],
    rows,
  });
  const amounts = await figure(draw, drawn('_amount', `amount (${currency})`), {
    id: `${id}-value`,
    currency,
    title: 'amount a day',
    summary: `${paidName} ${settledText}. k is a thousand, M a million, G a thousand million.`,
    columns: [
      dayColumn('Day'),
      numberColumn(`${submittedName} (${currency})`, 'submitted_amount'),
      numberColumn(`${paidName} (${currency})`, 'settled_amount'),
    ],
    rows,
  });
  return [numbers, amounts];
};

const dayColumn = (name: string) => textColumn(name, ({ day = '' }) => dayText(day));

export const feesPart: Part = async (rows, { currency, id, draw }) => {
  const untold = totalOf(rows, 'fee_not_told');
  const all = amountText(currency, decimalsOf(rows, 'fee'));
  const summary =
    `${all} for ${counted(totalOf(rows, 'count'), 'payout')}.` +
    (untold > 0n ? ` For ${counted(untold, 'more payout')} the service reported no fee.` : '');
  const columns = [
    dayColumn('Day settled'),
    numberColumn('Payouts with a fee', 'count'),
    numberColumn(`Fees (${currency})`, 'fee'),
    numberColumn('Fee not reported', 'fee_not_told'),
  ];
  const values = rows.map((row) => ({ day: row.day ?? '', series: 'fees', value: Number(row.fee) }));
  const isFlat = rows.length === 1 || values.every(({ value }) => value === 0);
  const spec = isFlat ? null : dayBarsSpec(values, everyDay(rows), ['fees'], `fees (${currency})`);
  return [await figure(draw, spec, { id, currency, title: 'fees a day', summary, columns, rows })];
};

export const settlePart: Part = async (rows, { currency, id, draw }) => {
  const overall = rows.find((row) => row.day === 'all');
  const perDay = rows.filter((row) => row.day !== 'all');
  const slowest = Math.max(...perDay.map((row) => Number(row.p95_seconds)));
  const [unit, size] = units.find(([, seconds]) => slowest >= 2 * seconds) ?? ['seconds', 1];
  const values = perDay.flatMap((row) => [
    { day: row.day ?? '', series: speeds[0] ?? '', value: Number(row.median_seconds) / size },
    { day: row.day ?? '', series: speeds[1] ?? '', value: Number(row.p95_seconds) / size },
  ]);
  const summary = `Half of ${counted(BigInt(overall?.count ?? '0'), 'payout')} settled within ${within(overall?.median_seconds)} of being sent, 95% within ${within(overall?.p95_seconds)}.`;
  const columns = [
    textColumn('Day sent', ({ day = '' }) => (day === 'all' ? 'All days' : dayText(day))),
    numberColumn('Settled', 'count'),
    { column: { number: 'Median' }, cell: (row: NamedCells) => duration(Number(row.median_seconds)) },
    { column: { number: '95th percentile' }, cell: (row: NamedCells) => duration(Number(row.p95_seconds)) },
  ];
  // A line of zeros shows nothing.
  const spec = perDay.length > 1 && slowest > 0 ? dayLinesSpec(values, everyDay(perDay), speeds, unit) : null;
  const title = 'time from sent to settled';
  const all = [...perDay, ...(overall ? [overall] : [])];
  return [await figure(draw, spec, { id, currency, title, summary, columns, rows: all })];
};

/** A length of time after *within*: what took no whole second took less than one. */
function within(seconds: string | undefined): string {
  return Number(seconds) < 1 ? 'a second' : duration(Number(seconds));
}

/** All days from the first to the last of the rows, at least a week. Quiet days count, to keep the time scale true. */
function everyDay(rows: Record<string, string>[]): string[] {
  const known = rows
    .map((row) => DateTime.fromISO(row.day ?? '', { zone: 'utc' }))
    .filter((day) => day.isValid);
  const last = DateTime.max(...known);
  const first = DateTime.min(...known, last?.minus({ days: 6 }) ?? DateTime.invalid('none'));
  if (!first || !last) return [];
  const count = Math.min(longest, last.diff(first, 'days').days + 1);
  return Array.from({ length: count }, (_, n) => last.minus({ days: count - 1 - n }).toFormat('yyyy-LL-dd'));
}
