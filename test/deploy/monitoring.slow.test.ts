import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findProgram } from '../support/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { readDeployed } from './metric-names.ts';

const folder = fileURLToPath(new URL('../../config/deploy/prometheus/', import.meta.url));
const promtool = findProgram('promtool');
const where = promtool ? '' : ' (skipped: no promtool; install prometheus)';

it.skipIf(promtool === undefined)(`alerts fire when they should, and only then${where}`, () => {
  const check = (...args: string[]): string =>
    execFileSync(promtool ?? '', args, { cwd: folder, encoding: 'utf8' });
  expect(check('check', 'config', '--lint-fatal', 'prometheus.yml')).toContain('SUCCESS: 17 rules found');
  expect(check('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
});

it.skipIf(promtool === undefined)(`the cases of the alerts notice a wrong limit${where}`, () => {
  const copy = temporaryFolder();
  copyFileSync(join(folder, 'alerts.test.yml'), join(copy, 'alerts.test.yml'));
  const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8');
  const wrong = rules.replace('{state="held"} > 3600', '{state="held"} > 7200');
  expect(wrong).not.toBe(rules);
  writeFileSync(join(copy, 'alerts.yml'), wrong);
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['test', 'rules', 'alerts.test.yml'], {
    cwd: copy,
    encoding: 'utf8',
  });
  expect(status).not.toBe(0);
  expect(stdout + stderr).toContain('CounterfoilPayoutsHeld');
});

it.skipIf(promtool === undefined)(
  `Grafana counts one ledger once, though two processes serve it${where}`,
  () => {
    const dashboard = readDeployed('grafana/counterfoil.json');
    const series = ['127.0.0.1:8788', '127.0.0.1:8789'].map((instance) => ({
      series: `counterfoil_payouts{job="counterfoil", instance="${instance}", currency="NGN", state="success"}`,
      values: '7x4',
    }));
    const shown = /"expr": "(sum by \(state\) .*counterfoil_payouts\{.*)"/.exec(dashboard)?.[1] ?? '';
    const expr = JSON.parse(`"${shown}"`).replace('$instance', '.+');
    const folderOfTest = temporaryFolder();
    const file = join(folderOfTest, 'dashboard.test.yml');
    const wanted = { labels: '{state="success"}', value: 7 };
    const test = {
      interval: '1m',
      input_series: series,
      promql_expr_test: [{ expr, eval_time: '2m', exp_samples: [wanted] }],
    };
    writeFileSync(file, JSON.stringify({ rule_files: [], tests: [test] }));
    expect(execFileSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  },
);
