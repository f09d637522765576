import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Habits } from '../../shifting/list-service.ts';
import { addBatch, configured, createNights } from '../../shifting/shifting-day.ts';
import { birth, createTown, start } from '../../shifting/town.ts';
import { createRandom } from '../../simulation/random.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

const day = 86_400_000;

it('P29: a short cut closes no conflict of a payout that it did not judge, though its last page shows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-short-cut-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ledger = await openNewLedger(join(folder, 'ledger.db'), { now: () => birth });
  onTestFinished(() => ledger.close());
  await addBatch(ledger);
  const random = createRandom(1);
  const still = { churn: 0, faults: 0, repeats: 0, wrongTotals: 0, clockErrorMs: 0 };
  const habits: Habits = { order: 'newest', perPage: 10, resizes: 'never', ...still };
  const town = createTown(ledger, random, 0);
  const times = Array.from({ length: 400 }, (_, i) => start - 3_700_000 - (i * day) / 10);
  await town.add(times.map((at, i) => town.draw(at, i >= 66 && i < 100 ? 'amount_conflict' : null)));
  const nights = createNights(ledger, town, { random, habits, config: configured(folder) });
  town.world.now += 60_000;
  expect((await nights.run(true)).complete).toBe(true);
  town.world.now += 60_000;
  expect(await nights.run(false)).toMatchObject({
    complete: 'window',
    discrepancies: { open: { amount_conflict: 34 }, resolved: 0 },
  });
});
