import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { batchSums } from '../../src/books/batch-sums.sql.ts';
import { unchangedSince } from '../../src/books/compared-batches.sql.ts';
import { livesOf } from '../../src/books/discrepancies/discrepancy-events.sql.ts';
import { sheetOfRuns } from '../../src/books/run-sheets.sql.ts';
import { verdictsOf } from '../../src/books/run-verdicts.sql.ts';
import { batchCounts } from '../../src/core/ledger/batches.ts';
import { approvalsOf } from '../../src/sending/approvals.sql.ts';
import { findAttention } from '../../src/sending/attention.sql.ts';
import { findReferences, unsentOf } from '../../src/sending/decisions/cancel-unsent.sql.ts';
import { loadEvidence } from '../../src/watching/evidence/evidence.sql.ts';
import { addPayout, makeWorld, runId, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

/** Asks about so many batches, runs and payouts, as pages, reports and look-ups do. */
async function askAbout(count: number): Promise<void> {
  const { db } = world.ledger;
  const names = Array.from({ length: count }, (_, i) => `name-${i}`);
  const ids = names.map((_, i) => BigInt(i + 1));
  await batchSums(db, names);
  await batchCounts(db, names);
  await unchangedSince(db, runId, names);
  await approvalsOf(db, names);
  await findAttention(db, names);
  await verdictsOf(db, names);
  await sheetOfRuns(db, names, 'statement');
  await livesOf(db, names);
  await findReferences(db, names);
  await unsentOf(db, ids);
  await loadEvidence(db, ids);
}

it('keeps no further statement, however many batches, runs and payouts there come to be', async () => {
  for (const n of [1, 2, 3]) await addPayout(world.ledger, `R${n}`, ['ready', 'sending', 'unknown'], {});
  await askAbout(3);
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  for (const count of [4, 5, 6, 7, 8, 9]) await askAbout(count);
  expect(prepare.mock.calls.map(([text]) => text)).toEqual([]);
});
