import { join } from 'node:path';
import type { DiscrepancyKind } from '../../../../src/core/domain/discrepancy-kinds.ts';
import { pairListed } from '../../../../src/watching/listing/pairing.sql.ts';
import {
  addDiscrepancy,
  addListed,
  addPayout,
  addRun,
  cut,
  makeWorld,
  runId,
  type World,
} from '../../../books/support.ts';

/** A run on paper: its report.html. */
type Look = { html: string; close(): Promise<void> };

const start = Date.parse(cut) - 3_600_000;
const day = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const referenceOf = (n: number): string => `SAL-2026-11-${String(n).padStart(3, '0')}`;

/** One discrepancy of these kinds each: expected, actual, difference. */
const found: [DiscrepancyKind, 'high' | 'medium' | 'low', string, string, string][] = [
  ['status_conflict', 'high', 'success', 'failed', '-245000.00'],
  ['beneficiary_conflict', 'high', '214/1409876545', '214/1409876540', ''],
  ['unknown_outcome', 'high', '150000.00', 'unknown', ''],
  ['mode_conflict', 'high', 'test', 'live', ''],
  ['amount_conflict', 'high', '410000.00', '409990.00', '-10.00'],
  ['currency_conflict', 'high', 'ZAR', 'USD', ''],
  ['duplicate_at_service', 'high', '1 transfer', '2 transfers', '176300.75'],
  ['missing_at_service', 'high', 'pending 198750.00', 'not listed, not found', '-198750.00'],
  ['missing_in_ledger', 'high', 'no such payout in the ledger', 'success 75000.00 NGN', '75000.00'],
  ['stale_pending', 'medium', 'success or failed', 'pending', ''],
  ['webhook_missing', 'low', 'a webhook', 'none heard', ''],
];

/** Payouts of one day or more, every third in ZAR; `unlisted` of them are not on the list. */
async function addPayouts(world: World, count: number, { days = 1, unlisted = 0 } = {}): Promise<void> {
  for (let n = 1; n <= count; n++) {
    const began = start - (n % days) * day;
    const amount = BigInt(15_000_000 + n * 77_019);
    const one = { currency: n % 3 === 2 ? 'ZAR' : 'NGN', amount, fee: '10.75' };
    const payout = await addPayout(world.ledger, referenceOf(n), ['ready', 'sending', 'pending', 'success'], {
      ...one,
      account_name: 'Oluwaseun Adebayo-Ogunleye',
      times: [0, 1, 2, 60].map((seconds) => iso(began + seconds * 1000)),
      submitted_at: iso(began),
      settled_at: iso(began + 60_000),
      final_at: iso(began + 60_000),
    });
    if (n > unlisted) await addListed(world.ledger, referenceOf(n), { ...one, payout_id: payout });
  }
}

async function addFound(world: World, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const [kind, severity, expected, actual, difference] = found[n % found.length] ?? found[0] ?? never();
    await addDiscrepancy(world.ledger, `D-${n}`, {
      kind,
      severity,
      expected,
      actual,
      difference,
      payout_id: BigInt(n + 1),
      reference: referenceOf(n + 1),
      transfer_id: `4800${n}`,
      trx: `TRX4800${n}YAZ3WKLW`,
      evidence: `listed as transfer 4800${n}, success; ledger: success by response+webhook+details`,
      first_seen_at: iso(start - (n % 12) * day),
    });
  }
}

function never(): never {
  throw new Error('there are kinds');
}

async function written(world: World, summary: object): Promise<Look> {
  await pairListed(world.ledger, runId);
  const text = JSON.stringify({
    run: runId,
    webhooks: { due: 10, heard: 9, late: 0, forged: 0, resent: 0 },
    ...summary,
  });
  await world.ledger.db.updateTable('runs').set({ summary: text }).execute();
  await world.reporting.freezeRun(runId, cut);
  await world.reporting.writeRun(runId);
  return { html: join(world.reports, `reconciliation-${runId}`, 'report.html'), close: world.close };
}

/** Like the demo: eighteen payouts in two currencies, and a discrepancy of each of eleven kinds. */
export async function demoRun(): Promise<Look> {
  const world = await makeWorld();
  await addRun(world.ledger);
  await addPayouts(world, 18, { unlisted: 2 });
  await addListed(world.ledger, 'NOBODY-ORDERED-THIS', { amount: 7_500_000n });
  await addFound(world, found.length);
  return written(world, { complete: true, listed: 17, matched: 16 });
}

/** Ten payouts, all as the service lists them. */
export async function cleanRun(): Promise<Look> {
  const world = await makeWorld();
  await addRun(world.ledger);
  await addPayouts(world, 10);
  return written(world, { complete: true, listed: 10, matched: 10 });
}

/** Ten payouts, and a service that could not be reached. */
export async function uncomparedRun(): Promise<Look> {
  const world = await makeWorld();
  await addRun(world.ledger, runId, iso(start), 'unread');
  await addPayouts(world, 10, { unlisted: 10 });
  return written(world, {
    complete: false,
    trouble: 'page 1: ECONNREFUSED connect ECONNREFUSED 127.0.0.1:8900',
  });
}

/** Ten thousand payouts of twenty days, with 500 discrepancies. */
export async function bigRun(): Promise<Look> {
  const world = await makeWorld();
  await addRun(world.ledger);
  await addPayouts(world, 10_000, { days: 20, unlisted: 40 });
  await addFound(world, 500);
  return written(world, { complete: true, listed: 9_960, matched: 9_960 });
}
