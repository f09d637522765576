import type { TopLevelSpec } from 'vega-lite';
import { commonSpec, nameAxis, shortNumbers } from './charts.ts';

/** A step of the waterfall: a bar from one amount to another, with what stands beside it. */
export type WaterfallStep = { step: string; from: number; to: number; kind: 'total' | 'less'; label: string };
export type Bar = { name: string; value: number; label: string };
export type Aged = { kind: string; bucket: string; count: number };

const band = 28;
/** Beside the longest bar there must be room for its text: the width of letters is only estimated while drawing. */
const room = 1.5;

/** One row a name, in the order given. */
function nameRows<Field extends string>(field: Field, rows: readonly Record<Field, string>[]) {
  const axis = nameAxis(rows.map((row) => row[field]));
  return { field, type: 'nominal', sort: null, title: null, axis } as const;
}

/** From what was ordered down to what was paid, each step where the one before ended. */
export function waterfallSpec(steps: WaterfallStep[]): TopLevelSpec {
  const most = Math.max(...steps.map(({ from, to }) => Math.max(from, to)));
  const rows = steps.map((one) => ({ ...one, end: Math.max(one.from, one.to) }));
  const domain: number[] = [0, most * room];
  const x = {
    field: 'from',
    type: 'quantitative',
    title: null,
    scale: { domain, nice: false },
    axis: { ...shortNumbers, tickCount: 5 },
  } as const;
  const y = nameRows('step', steps);
  return {
    ...commonSpec,
    height: { step: band },
    data: { values: rows },
    layer: [
      {
        mark: { type: 'bar', height: { band: 0.7 } },
        encoding: {
          y,
          x,
          x2: { field: 'to' },
          color: {
            field: 'kind',
            type: 'nominal',
            legend: null,
            scale: { domain: ['total', 'less'], range: ['var(--one)', 'var(--two)'] },
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: { y, x: { field: 'end', type: 'quantitative' }, text: { field: 'label', type: 'nominal' } },
      },
    ],
  };
}

/** One bar a name, the first at the top. */
export function barsSpec(bars: Bar[], title: string): TopLevelSpec {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const y = nameRows('name', bars);
  return {
    ...commonSpec,
    height: { step: band },
    data: { values: bars },
    layer: [
      {
        mark: { type: 'bar', height: { band: 0.7 }, color: 'var(--one)' },
        encoding: {
          y,
          x: {
            field: 'value',
            type: 'quantitative',
            title,
            scale: { domain: [0, most * 1.25], nice: false },
            axis: { ...shortNumbers, tickCount: Math.min(5, most), tickMinStep: 1 },
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: {
          y,
          x: { field: 'value', type: 'quantitative' },
          text: { field: 'label', type: 'nominal' },
        },
      },
    ],
  };
}

/** One bar a kind, in parts by age; each part holds its number, so that shades alone say nothing. */
export function ageingSpec(rows: Aged[], buckets: string[]): TopLevelSpec {
  const y = nameRows('kind', rows);
  const steps = buckets.map((_, index) => index + 1);
  const x = { field: 'count', type: 'quantitative', stack: 'zero' } as const;
  const order = { field: 'place', type: 'quantitative' } as const;
  const values = rows.map((row) => ({ ...row, place: buckets.indexOf(row.bucket) }));
  return {
    ...commonSpec,
    height: { step: band },
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: { band: 0.75 }, stroke: 'var(--ink)', strokeWidth: 0.6 },
        encoding: {
          y,
          order,
          x: { ...x, title: 'discrepancies', axis: { tickMinStep: 1, tickCount: 5, ...shortNumbers } },
          color: {
            field: 'bucket',
            type: 'ordinal',
            scale: { domain: buckets, range: steps.map((n) => `var(--age${n})`) },
            legend: {
              title: 'days open',
              symbolStrokeWidth: 0.6,
              symbolSize: 70,
              columnPadding: 0,
              labelOffset: 1,
            },
          },
        },
      },
      {
        mark: { type: 'text' },
        encoding: {
          y,
          order,
          x: { ...x, bandPosition: 0.5 },
          text: { field: 'count', type: 'quantitative' },
          color: {
            field: 'bucket',
            type: 'ordinal',
            scale: { domain: buckets, range: steps.map((n) => `var(--on${n})`) },
            legend: null,
          },
        },
      },
    ],
    resolve: { scale: { color: 'independent' } },
  };
}
