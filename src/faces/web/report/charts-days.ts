import type { TopLevelSpec } from 'vega-lite';
import { commonSpec, shortNumbers } from './charts.ts';

/** One value of one series on one day; `day` is `2026-11-21`. */
export type DayValue = { day: string; series: string; value: number };

/** Few days leave room for upright labels. */
const upright = 5;
/** `2026-11-21` as `21 Nov`. */
const dayLabel =
  "+slice(datum.value, 8) + ' ' + slice('JanFebMarAprMayJunJulAugSepOctNovDec', 3 * slice(datum.value, 5, 7) - 3, 3 * slice(datum.value, 5, 7))";
const mostLabels = 16;

function dayAxis(days: string[]) {
  const step = Math.ceil(days.length / mostLabels);
  return {
    field: 'day',
    type: 'ordinal',
    title: null,
    scale: { domain: days },
    axis: {
      labelExpr: dayLabel,
      labelAngle: days.length > upright ? -90 : 0,
      labelOverlap: false,
      values: days.filter((_, index) => (days.length - 1 - index) % step === 0),
      grid: false,
    },
  } as const;
}

function colour(series: string[]) {
  return {
    field: 'series',
    type: 'nominal',
    scale: { domain: series, range: ['var(--one)', 'var(--two)'] },
  } as const;
}

/** Two bars a day at most, side by side in the order of `series`. */
export function dayBarsSpec(
  values: DayValue[],
  days: string[],
  series: string[],
  title: string,
): TopLevelSpec {
  const most = Math.max(0, ...values.map(({ value }) => value));
  return {
    ...commonSpec,
    height: 170,
    data: { values },
    mark: { type: 'bar', stroke: 'var(--ink)', strokeWidth: 0.4 },
    encoding: {
      x: dayAxis(days),
      ...(series.length > 1 && { xOffset: { field: 'series', type: 'nominal', sort: series } }),
      y: {
        field: 'value',
        type: 'quantitative',
        title,
        scale: { domainMin: 0 },
        axis: { ...shortNumbers, tickCount: Math.min(5, Math.max(1, Math.ceil(most))), minExtent: 46 },
      },
      color: { ...colour(series), legend: series.length > 1 ? {} : null },
    },
  };
}

/** Lines over days; each series has its own dash and its own point besides its colour. */
export function dayLinesSpec(
  values: DayValue[],
  days: string[],
  series: string[],
  title: string,
): TopLevelSpec {
  const domain: number[] = [0, Math.max(1, ...values.map(({ value }) => value))];
  return {
    ...commonSpec,
    height: 170,
    data: { values },
    encoding: {
      x: dayAxis(days),
      y: {
        field: 'value',
        type: 'quantitative',
        title,
        scale: { domain },
        axis: { tickCount: 5, minExtent: 46 },
      },
      color: colour(series),
    },
    layer: [
      {
        mark: { type: 'line', strokeWidth: 2 },
        encoding: {
          strokeDash: {
            field: 'series',
            type: 'nominal',
            legend: null,
            scale: {
              domain: series,
              range: [
                [1, 0],
                [6, 4],
              ],
            },
          },
        },
      },
      {
        mark: { type: 'point', filled: true, size: 70, opacity: 1 },
        encoding: {
          shape: { field: 'series', type: 'nominal', scale: { domain: series, range: ['circle', 'square'] } },
        },
      },
    ],
  };
}
