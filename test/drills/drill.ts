import { setTimeout as sleep } from 'node:timers/promises';
import type { DrillHome } from './home.ts';
import type { Outage, Scene } from './outage.ts';
import { expected, falseAlerts, falseSignals, type Name, names, says } from './said.ts';
import { readSignals } from './signals.ts';

/** Seconds from the outage to each signal, or what was wrong. */
export type Row = {
  outage: string;
  readyz: string;
  metrics: string;
  dashboard: string;
  alert: string;
  cleared: string;
  /** What failed the drill. */
  faults: string[];
};

/** The longest that each signal may take, in seconds. */
export type Bounds = { signal: number; alert: number; cleared: number };

/** Makes an outage on a home of its own and measures when each signal comes and ends. `spared`: it does not happen. */
export async function runDrill(
  outage: Outage,
  { bounds, settings, spared }: { bounds: Bounds; settings: Record<string, string>; spared: boolean },
): Promise<Row> {
  const scene = await outage.open(settings);
  try {
    await scene.home.serve.start();
    await untilCalm(scene.home);
    const calm = await readSignals(scene.home);
    const early = names.filter((name) => expected(outage, name) && says(outage, name, calm));
    if (!spared) await scene.begin();
    const row = await watch(outage, scene, { bounds, spared });
    return { ...row, faults: [...early.map((name) => `${name} said so before`), ...row.faults] };
  } finally {
    await scene.close();
  }
}

/** After the first reconciliation nothing waits for a person: the service lists nothing yet. */
async function untilCalm(home: DrillHome): Promise<void> {
  for (let n = 0; n < 240; n++) {
    const { readyz, dashboard } = await readSignals(home);
    if (readyz?.ready && dashboard?.includes('Nothing waits for a person')) return;
    await sleep(500);
  }
  throw new Error(`the home did not become calm:\n${home.serve.log().slice(-2000)}`);
}

async function watch(
  outage: Outage,
  scene: Scene,
  { bounds, spared }: { bounds: Bounds; spared: boolean },
): Promise<Row> {
  const { home } = scene;
  const { messages } = home.alerts;
  const began = performance.now();
  const since = (from: number): number => (performance.now() - from) / 1000;
  const at: Partial<Record<Name | 'alert', number>> = {};
  const faults: string[] = [];
  const missing = (): (Name | 'alert')[] => [
    ...names.filter(
      (name) => expected(outage, name) && at[name] === undefined && since(began) < bounds.signal,
    ),
    ...(outage.alert && at.alert === undefined && since(began) < bounds.alert ? (['alert'] as const) : []),
  ];
  // What must not come has as long to come as what must.
  const quiet = outage.alert === null || outage.readyz === null ? bounds.alert : 0;
  while (missing().length > 0 || since(began) < quiet) {
    const signals = await readSignals(home);
    for (const name of names)
      if (at[name] === undefined && expected(outage, name) && says(outage, name, signals))
        at[name] = since(began);
    // A message that does not say what to do is no signal.
    const alert = messages.find(({ text }) => outage.alert?.test(text) && text.includes('What to do: '));
    if (alert) at.alert ??= (alert.atMs - began) / 1000;
    faults.push(...falseSignals(outage, signals));
    await sleep(250);
  }
  faults.push(...falseAlerts(outage, messages));
  const ended = performance.now();
  const told = messages.length;
  if (!spared) await scene.mend();
  const cleared = await untilCleared(outage, home, { told, ended, bound: bounds.cleared });
  if (cleared === null) faults.push(`it was not cleared within ${bounds.cleared} s`);
  const cell = (name: Name | 'alert'): string => {
    const wanted = name === 'alert' ? outage.alert !== null : expected(outage, name);
    if (!wanted) return 'never (by design)';
    const seconds = at[name];
    if (seconds !== undefined) return `${seconds.toFixed(1)} s`;
    faults.push(`no signal of ${name}`);
    return 'MISSING';
  };
  const cells = {
    readyz: cell('readyz'),
    metrics: cell('metrics'),
    dashboard: cell('dashboard'),
    alert: cell('alert'),
  };
  const end =
    outage.ends === 'counted' ? 'stays counted' : cleared === null ? 'MISSING' : `${cleared.toFixed(1)} s`;
  return { outage: outage.name, ...cells, cleared: end, faults: [...new Set(faults)] };
}

/** Seconds until no signal is left, and the alert was called over; null: not within the bound. */
async function untilCleared(
  outage: Outage,
  home: DrillHome,
  { told, ended, bound }: { told: number; ended: number; bound: number },
): Promise<number | null> {
  if (outage.ends === 'counted') return 0;
  for (;;) {
    const signals = await readSignals(home);
    const isReady = signals.readyz?.ready === true && signals.dashboard !== null && signals.metrics !== null;
    const left = names.filter((name) => expected(outage, name) && says(outage, name, signals));
    const isSaid = home.alerts.messages.slice(told).some(({ text }) => /^CLEARED/m.test(text));
    const isOver = outage.alert === null || outage.ends === 'unsaid' || isSaid;
    const seconds = (performance.now() - ended) / 1000;
    if (isReady && left.length === 0 && isOver) return seconds;
    if (seconds > bound) return null;
    await sleep(250);
  }
}
