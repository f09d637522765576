import { expect, it } from 'vitest';
import { openCharts } from '../../../../src/faces/web/report/charts.ts';
import { dayBarsSpec } from '../../../../src/faces/web/report/charts-days.ts';
import { beginCharts } from '../../../../src/faces/web/report/charts-thread.ts';

const values = [{ day: '2026-11-21', series: 'submitted', value: 3 }];
const spec = dayBarsSpec(values, ['2026-11-21'], ['submitted'], 'payouts');

it('draws the same picture each time, named for who hears it', async () => {
  const charts = openCharts();
  const about = { id: 'days', title: 'Payouts per day', summary: '3 on one day' };
  try {
    const first = await charts.draw(spec, about);
    expect(first).toContain('<title id="days-name">Payouts per day</title>');
    expect(first).toMatch(/^<svg role="img".*<\/svg>$/s);
    expect(await charts.draw(spec, about)).toBe(first);
  } finally {
    await charts.end();
  }
});

it('says why a picture cannot be drawn, and draws the next one', async () => {
  const thread = beginCharts();
  try {
    const transform = [{ calculate: '(((', as: 'b' }];
    await expect(thread.svg({ mark: 'bar', data: { values: [] }, transform })).rejects.toThrow(
      'Unexpected end of input',
    );
    expect(await thread.svg(spec)).toMatch(/^<svg/);
  } finally {
    await thread.end();
  }
});

it('fails instead of waiting for a thread that has ended, and lets the event loop turn while it draws', async () => {
  const thread = beginCharts();
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 1);
  await thread.svg(spec);
  clearInterval(turning);
  expect(turns).toBeGreaterThan(3);
  await thread.end();
  await expect(thread.svg(spec)).rejects.toThrow('the thread that draws ended');
});
