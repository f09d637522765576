import { setTimeout as sleep } from 'node:timers/promises';
import type { DrillHome } from './home.ts';

const patienceMs = 180_000;

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > patienceMs) throw new Error(`${what}: it did not come`);
    await sleep(100);
  }
}

/** The seconds until it is so. */
export async function timeTo(what: string, isSo: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  await until(what, isSo);
  return (performance.now() - began) / 1000;
}

/** How many payouts the ledger calls paid. */
export async function paidIn(home: DrillHome): Promise<number> {
  const { out } = await home.run('status', '--json');
  const payouts: Record<string, number> = JSON.parse(out || '{}').payouts ?? {};
  return payouts.success ?? 0;
}

/** How the service's book differs from so many payouts, each paid once. */
export function bookFaults(home: DrillHome, payouts: number): string[] {
  const references = home.sandbox.book.transfers().map(({ reference }) => reference);
  const twice = references.length - new Set(references).size;
  return [
    ...(twice > 0 ? [`${twice} payouts were sent twice`] : []),
    ...(references.length === payouts ? [] : [`${references.length} of ${payouts} are at the service`]),
  ];
}
