import type { Message } from './alert-receiver.ts';
import type { Outage } from './outage.ts';
import type { Signals } from './signals.ts';

/** The views of an operator beside the alerts. */
export type Name = 'readyz' | 'metrics' | 'dashboard';
export const names: readonly Name[] = ['readyz', 'metrics', 'dashboard'];

/** Whether the outage must show there. */
export function expected(outage: Outage, name: Name): boolean {
  return outage[name] !== null;
}

/** Whether a view says what it must. */
export function says(outage: Outage, name: Name, signals: Signals): boolean {
  const wanted = outage[name];
  if (wanted === 'none' || wanted === null) return wanted === 'none' && signals[name] === null;
  if (name === 'readyz' && wanted instanceof RegExp)
    return (signals.readyz?.problems ?? []).some(
      ({ check, problem, fix }) => wanted.test(`${check}: ${problem}`) && fix !== '',
    );
  if (name === 'dashboard' && wanted instanceof RegExp) return wanted.test(signals.dashboard ?? '');
  const { metrics } = signals;
  return typeof wanted === 'function' && metrics !== null && wanted((one) => metrics.get(one) ?? Number.NaN);
}

/** Problems of `/readyz` beside the one that the outage makes. */
export function falseSignals({ readyz: wanted }: Outage, { readyz }: Signals): string[] {
  if (wanted === 'none') return [];
  return (readyz?.problems ?? [])
    .map(({ check, problem }) => `${check}: ${problem}`)
    .filter((text) => wanted === null || !wanted.test(text))
    .map((text) => `/readyz says what is not so: ${text}`);
}

/** Alerts about something else than the outage. */
export function falseAlerts({ alert }: Outage, messages: readonly Message[]): string[] {
  const lines = messages.flatMap(({ text }) =>
    text.split('\n').filter((line) => /^(ALERT|MORE|STILL)/.test(line)),
  );
  return lines.filter((line) => !alert?.test(line)).map((line) => `a false alert: ${line}`);
}
