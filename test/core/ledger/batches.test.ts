import { expect, it } from 'vitest';
import { batchCounts, batchesBeginning, getBatch } from '../../../src/core/ledger/batches.ts';
import { readReasons, setHoldReasons } from '../../../src/core/ledger/hold-reasons.ts';
import { batchOf, csv, row, setting } from '../../intake/setting.ts';

it('counts and sums payouts by batch, state and currency, exactly', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  const one = batchOf(
    await s.intake.takeIn(s.drop('one.csv', csv(row('A', '0.10'), row('B', '0.20'))), { origin: 'inbox' }),
  );
  s.clock.advance(1000);
  const two = batchOf(await s.intake.takeIn(s.drop('two.csv', csv(row('C', '0.10'))), { origin: 'inbox' }));
  const [first, second] = await batchCounts(s.ledger.db);
  expect(first).toMatchObject({ state: 'ready', counts: { ready: 2 }, totals: { NGN: '0.30' } });
  expect(second).toMatchObject({
    state: 'held',
    counts: { held: 1 },
    totalsByState: { NGN: { held: '0.10' } },
  });
  expect((await batchCounts(s.ledger.db, [two])).map((c) => c.batch.id)).toEqual([two]);
  expect((await batchesBeginning(s.ledger.db, '', 10)).map((b) => b.id)).toEqual([two, one]);
});

it('replaces the reasons for which a batch is held and raises its version', async () => {
  const s = await setting();
  const id = batchOf(await s.intake.takeIn(s.drop('one.csv', csv(row('A'))), { origin: 'inbox' }));
  const before = await getBatch(s.ledger.db, id);
  await s.ledger.write((trx) => setHoldReasons(trx, id, [{ kind: 'person' }]));
  const after = await getBatch(s.ledger.db, id);
  expect(readReasons(after?.hold_reasons ?? '')).toEqual([{ kind: 'person' }]);
  expect(after?.version).toBe((before?.version ?? 0n) + 1n);
});
