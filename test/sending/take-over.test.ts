import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { createWorkers } from '../../src/core/runtime/worker-lock.ts';
import { takeOver } from '../../src/sending/take-over.ts';
import { addBatch, at, claimAt, makeLedger, recordOutcome, replies, states } from '../support/ledger.ts';

it('P3: what a dead worker was sending becomes unknown, never ready; a living worker keeps its claims', async () => {
  const ledger = await makeLedger();
  const clock = systemClock();
  const workersOf = (id: string) => createWorkers({ ledger, clock, id });
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

it('P3: a process that ended with an unanswered attempt is taken over too', async () => {
  const ledger = await makeLedger();
  const clock = systemClock();
  const [mine, failing] = ['mine', 'failing'].map((id) => createWorkers({ ledger, clock, id }));
  if (!mine || !failing) throw new Error('two workers');
  await mine.start('submit');
  await failing.start('submit');
  await addBatch(ledger, ['R-1', 'R-2']);
  await claimAt(ledger, at(0), 1, 'failing');
  await failing.end();
  expect(await takeOver({ ledger, clock, workers: mine })).toBe(1);
  expect(await states(ledger)).toEqual({ 'R-1': 'unknown', 'R-2': 'ready' });
  await mine.end();
  await ledger.remove();
});

it('P3: a worker that others took over claims nothing more', async () => {
  const ledger = await makeLedger();
  const workers = createWorkers({ ledger, clock: systemClock(), id: 'mine' });
  await workers.start('submit');
  await addBatch(ledger, ['R-1']);
  await workers.markEnded('mine');
  await expect(claimAt(ledger, at(0), 1, 'mine')).rejects.toThrow('took over worker mine');
  expect(await states(ledger)).toEqual({ 'R-1': 'ready' });
  await ledger.remove();
});
