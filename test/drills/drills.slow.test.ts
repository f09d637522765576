import { expect, it } from 'vitest';
import { runDrills } from './drills.ts';
import { tryDashboard } from './tries.ts';

const long = { timeout: 180_000 };
const plan = { only: 'forged', settings: {}, spared: false };

it('forged webhooks show in the figures and on the dashboard, and raise no alert', long, async () => {
  const { lines, failed } = await runDrills({ ...plan, bounds: { signal: 30, alert: 5, cleared: 30 } });
  expect(failed, lines.join('\n')).toBe(false);
});

it('a drill fails where the outage does not happen', long, async () => {
  const bounds = { signal: 5, alert: 5, cleared: 5 };
  const { lines, failed } = await runDrills({ ...plan, spared: true, bounds });
  expect(failed).toBe(true);
  expect(lines.join('\n')).toContain('no signal of metrics');
});

it('tries against the dashboard of a real serve come to nothing', long, async () => {
  const { lines, failed } = await tryDashboard();
  expect(failed, lines.join('\n')).toBe(false);
});
