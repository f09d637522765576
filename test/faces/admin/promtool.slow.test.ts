import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { batchOf } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { findProgram } from '../../support/server-process.ts';
import { serving } from '../../support/serving.ts';

const promtool = findProgram('promtool');

it.skipIf(promtool === undefined)(
  `promtool objects to nothing at /metrics and in status --metrics${promtool ? '' : ' (skipped: no promtool; install prometheus)'}`,
  async () => {
    const home = await makeHome({ faults: { 'PAY-0002': 'wrong_amount' } });
    const { daemon } = await serving(home, {}, home.start);
    const { admin } = JSON.parse(await daemon.line(/"ready":true/));
    await home.json(['submit', home.put('pay.csv', batchOf(4))], 0);
    await home.sandbox.settleAll();
    await home.run(['reconcile', '--json']);
    const scraped = await (await fetch(`${admin}/metrics`)).text();
    const printed = (await home.run(['status', '--metrics'])).out;
    expect(scraped).toContain('counterfoil_reconciliation_unexplained_amount{currency="NGN"}');
    for (const text of [scraped, printed]) {
      const checked = spawnSync(promtool ?? '', ['check', 'metrics'], { input: `${text.trimEnd()}\n` });
      expect([checked.status, String(checked.stdout), String(checked.stderr)]).toEqual([0, '', '']);
    }
    const wrong = spawnSync(promtool ?? '', ['check', 'metrics'], { input: 'counterfoil_x_total 1\n' });
    expect(wrong.status).not.toBe(0);
  },
);
