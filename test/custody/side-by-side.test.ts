import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { createWorkers } from '../../src/core/runtime/worker-lock.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { makeLedger } from '../support/ledger.ts';

it('a process that registers or ends while another commits waits for it instead of failing', async () => {
  const ledger = await makeLedger();
  const clock = systemClock();
  const other = await openLedger(ledger.path, { now: clock.iso });
  const released = Promise.withResolvers<void>();
  const writing = ledger.write(async (trx) => {
    await trx.insertInto('meta').values({ key: 'k', value: 'v' }).execute();
    await released.promise;
  });
  await clock.sleep(20);
  const workers = createWorkers({ ledger: other, clock, id: 'w-2' });
  const started = workers.start('submit');
  await clock.sleep(50);
  released.resolve();
  await writing;
  await started;
  await workers.end();
  const rows = await other.db.selectFrom('workers').select(['id', 'ended_at']).execute();
  expect(rows).toMatchObject([{ id: 'w-2', ended_at: expect.any(String) }]);
  await other.close();
  await ledger.remove();
});
