import { join } from 'node:path';
import { expect } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { csv, type Home, type Json, makeHome as makeRealHome, row } from './cli.ts';
import { inProcess } from './in-process.ts';
import { born } from './ledger.ts';

/** Commands run in this process, but where two must be alive at once or a test says `start`. */
export const makeHome = async (...given: Parameters<typeof makeRealHome>): Promise<Home> =>
  inProcess(await makeRealHome(...given));

/** Takes in one payout with this fault and sends it; the webhook is not waited for. */
export async function sent(
  fault: NonNullable<SandboxOptions['faults']>[string],
  settings: Record<string, string> = {},
  code = 0,
): Promise<{ home: Home; batch: string }> {
  const home = await makeHome({ faults: { 'PAY-0001': fault }, settleMs: 1 }, settings);
  const told = await home.json(['submit', home.put('pay.csv', csv(row(1)))], code);
  return { home, batch: told.batches[0].batch };
}

/** A payout that the service took and that then failed there. */
export async function failed(settings: Record<string, string> = {}): Promise<{ home: Home; batch: string }> {
  const made = await sent('fail', settings);
  await made.home.sandbox.settleAll();
  await made.home.json(['reconcile'], 0);
  expect(await stateOf(made.home, 'PAY-0001')).toBe('failed');
  return made;
}

export async function stateOf(home: Home, reference: string): Promise<string> {
  return (await home.json(['show', reference], 0)).payout.state;
}

/** What `retry` shows to one who has not agreed yet: exit 2 with the evidence and its digest. */
export async function look(home: Home, ...args: string[]): Promise<Json> {
  const shown = await home.json(['retry', ...args], 2);
  expect(shown.evidence_digest).toMatch(/^[0-9a-f]{12}$/);
  return shown;
}

export async function agree(home: Home, code: number, ...args: string[]): Promise<Json> {
  const { evidence_digest } = await look(home, ...args);
  return home.json(['retry', ...args, '--yes', '--evidence', evidence_digest], code);
}

/** As if another account had dropped it: tests run as one account only. */
export async function droppedByAlice(home: Home): Promise<void> {
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  await ledger.write((trx) =>
    trx.updateTable('batches').set({ dropped_by: 'alice', dropped_uid: 4242n }).execute(),
  );
  await ledger.close();
}
