import { type Bounds, type Row, runDrill } from './drill.ts';
import { outages } from './outages.ts';

/** Makes every outage at once, each on a home of its own, and says which signals came after how long. */
export async function runDrills(plan: {
  only: string;
  bounds: Bounds;
  settings: Record<string, string>;
  spared: boolean;
}): Promise<{ lines: string[]; failed: boolean }> {
  const some = outages.filter(({ name }) => name.includes(plan.only));
  if (some.length === 0) throw new Error(`--only: no outage is called "${plan.only}"`);
  const rows = await Promise.all(
    some.map((outage) => runDrill(outage, plan).catch((error: unknown) => brokenRow(outage.name, error))),
  );
  const head = ['outage', '/readyz said', '/metrics showed', 'dashboard said', 'alert', 'cleared after'];
  const cells = rows.map((row) => [
    ...[row.outage, row.readyz, row.metrics, row.dashboard, row.alert, row.cleared],
  ]);
  const faults = rows.flatMap(({ outage, faults: own }) => own.map((fault) => `FAILED  ${outage}: ${fault}`));
  return {
    lines: [...[head, ...cells].map((line) => `| ${line.join(' | ')} |`), ...faults],
    failed: faults.length > 0,
  };
}

function brokenRow(outage: string, error: unknown): Row {
  const said = error instanceof Error ? error.message : String(error);
  const cells = { readyz: '-', metrics: '-', dashboard: '-', alert: '-', cleared: '-' };
  return { outage, ...cells, faults: [`the drill broke off: ${said}`] };
}
