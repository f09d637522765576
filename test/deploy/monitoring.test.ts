import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createProcessMetrics } from '../../src/faces/admin/process-metrics.ts';
import { everyMetric, readAlerts, readDeployed } from './metric-names.ts';

const dashboardShape = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).nonempty() }),
  ),
});
const panels = dashboardShape.parse(JSON.parse(readDeployed('grafana/counterfoil.json'))).panels;

/** The label values of each metric, by `name label`. */
async function labelValues(): Promise<Map<string, Set<string>>> {
  const values = new Map<string, Set<string>>();
  const note = (key: string, value: string): void => {
    values.set(key, (values.get(key) ?? new Set()).add(value));
  };
  for (const [, name = '', labels = ''] of (await everyMetric()).matchAll(
    /^(counterfoil_\w+)(?:\{(.*)\})? /gm,
  )) {
    note(name, '');
    for (const [, label, value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) note(`${name} ${label}`, value);
  }
  return values;
}

/** What a query asks for that no metric has: names, labels and values of labels. */
function unknownIn(expr: string, known: Map<string, Set<string>>): string[] {
  return [...expr.matchAll(/(counterfoil_\w+)(?:\{([^}]*)\})?/g)].flatMap(([, name = '', matchers = '']) => {
    if (!known.has(name)) return [name];
    return [...matchers.matchAll(/(\w+)(?:=~|!=|=)"([^"]*)"/g)].flatMap(([, label = '', value = '']) => {
      // Prometheus adds this one.
      if (label === 'instance') return [];
      const has = known.get(`${name} ${label}`);
      const absent = value.split('|').filter((one) => !has?.has(one));
      return absent.map((one) => `${name}{${label}="${one}"}`);
    });
  });
}

it('alerts and the dashboard ask only for metrics and labels that exist', async () => {
  const known = await labelValues();
  const queries = [
    ...readAlerts().map(({ alert, expr }) => ({ where: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
  const wrong = queries.flatMap(({ where, expr }) =>
    unknownIn(expr, known).map((what) => `${where}: ${what}`),
  );
  expect(wrong).toEqual([]);
  expect(queries.filter(({ expr }) => /counterfoil/.test(expr)).length).toBe(queries.length);
  expect(unknownIn('counterfoil_paid > 0', known)).toEqual(['counterfoil_paid']);
  expect(unknownIn('counterfoil_payouts{state="lost"}', known)).toEqual([
    'counterfoil_payouts{state="lost"}',
  ]);
});

it('the dashboard shows every metric', async () => {
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
  const names = [...(await everyMetric()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? '');
  const hidden = names.filter((name) => !shown.includes(name));
  // Shown better by others: the last success, and `up`.
  expect(hidden).toEqual([
    'counterfoil_job_last_run_timestamp_seconds',
    'counterfoil_job_last_duration_seconds',
    'counterfoil_reconciliation_last_timestamp_seconds',
    'counterfoil_discrepancies_oldest_seconds',
    'counterfoil_start_time_seconds',
  ]);
});

it('the dashboard counts a figure of the ledger once, however many processes serve it', async () => {
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);
  const metrics = createProcessMetrics();
  const ofProcess = namesIn(await metrics.text());
  metrics.stop();
  const ofLedger = namesIn(await everyMetric()).filter((name) => !ofProcess.includes(name));
  const sums = panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .filter((expr) => expr.startsWith('sum'));
  const twice = ofLedger.flatMap((name) =>
    sums.filter((expr) => new RegExp(`${name}\\b`).test(expr) && !expr.includes('(max without (instance) (')),
  );
  expect(sums.length).toBeGreaterThan(10);
  expect(twice).toEqual([]);
});

it('every alert is tested and described', () => {
  const page = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
  const cases = readDeployed('prometheus/alerts.test.yml');
  const alerts = readAlerts();
  expect(alerts.length).toBeGreaterThan(14);
  for (const { alert, labels } of alerts) {
    expect(cases, alert).toContain(`alertname="${alert}", severity="${labels.severity}"`);
    expect(page, alert).toContain(`| \`${alert}\` (${labels.severity}) |`);
  }
  const described = [...page.matchAll(/^\| `(Counterfoil\w+)`/gm)].map(([, name]) => name);
  expect(described).toEqual(alerts.map(({ alert }) => alert));
});
