import { expect } from 'vitest';
import { batchOf, type Home, references, sum } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

/** How many payouts are sent while the ledger fails. */
export const rows = 60;

/** Runs again with a whole disk: nothing was lost, and nothing goes out a second time by itself. */
export async function restartsCleanly(home: Home, what: string): Promise<void> {
  const again = await home.run(['submit']);
  expect([0, 4], `${what}: ${again.err}`).toContain(again.code);
  const { payouts } = JSON.parse((await home.run(['status', '--json'])).out);
  expect(sum(payouts), what).toBe(rows);
  expect((payouts.ready ?? 0) + (payouts.sending ?? 0), what).toBe(0);
  const bodies = references(rows).map((reference) => home.sandbox.requests.bodies(reference));
  expect(
    bodies.filter((n) => n > 1),
    `${what}: a body went out twice`,
  ).toEqual([]);
  // What was answered and could not be recorded is unknown, never forgotten.
  expect(payouts.unknown ?? 0, what).toBeGreaterThanOrEqual(bodies.filter((n) => n === 0).length);
  expect((await home.run(['verify'])).code, what).toBe(0);
}

/** A home whose batch is taken in and not sent. */
export async function prepared(): Promise<Home> {
  const home = await makeHome(
    { latencyMs: 20 },
    { COUNTERFOIL_SERVICE_CONCURRENCY: '4', COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0' },
  );
  await home.json(['submit', home.put('pay.csv', batchOf(rows)), '--no-wait'], 0);
  return home;
}

/** This process's environment without what the test runner and the user set for it. */
export function clean(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COUNTERFOIL_|NODE_|VITEST|VITE_)/.test(name)),
  );
}
