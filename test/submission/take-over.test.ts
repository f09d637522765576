import { expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { createWorkers } from '../../src/runtime/worker-lock.ts';
import { takeOver } from '../../src/submission/take-over.ts';
import { addBatch, at, claimAt, makeLedger, recordOutcome, replies, states } from '../support/ledger.ts';

it('P3: what a dead worker was sending becomes unknown, never ready; a living worker keeps its claims', async () => {
  const ledger = await makeLedger();
  const clock = systemClock();
  const workersOf = (id: string) => createWorkers({ ledger, clock, dataDir: ledger.folder, id });
  const [mine, living] = [workersOf('mine'), workersOf('living')];
  await mine.start('submit');
  await living.start('submit');
  // A worker that never said it ended, and whose lock nobody holds.
  const dead = { id: 'dead', kind: 'submit', host: 'h', pid: 1n, lock_file: 'dead.lock', started_at: at(0) };
  await ledger.db
    .insertInto('workers')
    .values({ ...dead, beat: 0n, ended_at: null })
    .execute();
  await addBatch(ledger, ['R-1', 'R-2', 'R-3', 'R-4']);
  const claims = await claimAt(ledger, at(0), 2, 'dead');
  await claimAt(ledger, at(0), 1, 'living');
  if (claims[0]) await recordOutcome(ledger, at(1), claims[0], replies.accepted());
  expect(await takeOver({ ledger, clock, workers: mine })).toBe(1);
  expect(await states(ledger)).toEqual({
    'R-1': 'pending',
    'R-2': 'unknown',
    'R-3': 'sending',
    'R-4': 'ready',
  });
  expect(await takeOver({ ledger, clock, workers: mine }), 'a second look finds nothing').toBe(0);
  await living.end();
  await mine.end();
  await ledger.remove();
});
