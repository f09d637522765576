import { setTimeout as sleep } from 'node:timers/promises';
import { type AlertEvent, looked, recorded, type Stage } from './alert-events.ts';
import type { DrillHome } from './home.ts';

const patienceMs = 150_000;
/** How often a daemon looks for what no commit records. */
const lookSeconds = 60;

type Row = { name: string; seconds: number | undefined; bound: number; log: string };

/**
 * Measures the seconds from each cause to its message. What a commit records may take `bound` seconds; what only a look
 * shows, a minute more.
 */
export async function measureAlerts(bound: number): Promise<{ lines: string[]; failed: boolean }> {
  const rows = await runStage(recorded, bound);
  // Mostly they wait: the machine is quiet enough for all at once.
  rows.push(...(await Promise.all(looked.map((stage) => runStage(stage, bound)))).flat());
  const late = rows.filter(({ seconds, bound: most }) => seconds === undefined || seconds > most);
  const lines = rows.map(({ name, seconds, bound: most }) => {
    const said = seconds === undefined ? 'MISSING' : `${seconds.toFixed(1)} s`;
    return `| ${name} | ${said} | ${most} s |`;
  });
  const logs = late.map(({ name, log }) => `LATE  ${name}\n${log}`);
  return {
    lines: ['| event | alert after | at most |', '|---|---|---|', ...lines, ...logs],
    failed: late.length > 0,
  };
}

async function runStage({ open, events }: Stage, bound: number): Promise<Row[]> {
  const home = await open();
  try {
    const rows: Row[] = [];
    for (const event of events) rows.push(await measure(home, event, bound));
    return rows;
  } finally {
    await home.close();
    await home.leave?.();
  }
}

async function measure(
  home: DrillHome,
  { name, said, cause, shows }: AlertEvent,
  bound: number,
): Promise<Row> {
  const before = home.alerts.messages.length;
  const since = await cause(home);
  const until = performance.now() + Math.max(0, since - Date.now()) + patienceMs;
  const find = () => home.alerts.messages.slice(before).find(({ text }) => said.test(text));
  while (!find() && performance.now() < until) await sleep(50);
  const message = find();
  const most = shows === 'by_look' ? lookSeconds + bound : bound;
  const seconds = message && (performance.timeOrigin + message.atMs - since) / 1000;
  return { name, seconds, bound: most, log: home.serve.log().slice(-2000) };
}
