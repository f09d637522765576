import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { barrierKeys, noteListAfterAdoption, raiseBarrier } from '../../src/core/ledger/barriers.ts';
import { dropMeta } from '../../src/core/ledger/meta.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { cancelUnsent } from '../../src/sending/decisions/cancel-unsent.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { tamper } from '../support/intruder.ts';
import { addBatch, at, claimAt, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { adoptAlone } from './adoption.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const adopt = (when: number, onProgress?: (n: number) => void): Promise<number> =>
  adoptAlone(ledger.path, when, onProgress);

it('P25: an interrupted adoption sends nothing and goes on where it stopped', async () => {
  await addBatch(
    ledger,
    Array.from({ length: 1500 }, (_, i) => `R-${i}`),
  );
  await ledger.close();
  const died = adopt(10_000, () => {
    throw new Error('died');
  });
  await expect(died).rejects.toThrow('died');
  const half = await openLedger(ledger.path, { now: () => at(20_000) });
  expect((await haltInWords(half.db))?.cause).toContain('restore --adopt');
  expect(await claimAt(half, at(20_000), 9)).toEqual([]);
  await half.close();
  expect(await adopt(30_000), 'what was done stays done').toBe(500);
  const now = await openLedger(ledger.path, { now: () => at(40_000) });
  const behind = now.db.selectFrom('meta').selectAll().where('key', '=', barrierKeys.behind);
  expect(await behind.execute()).toEqual([]);
  const counts = now.db.selectFrom('payouts').select('unseen_sends').distinct();
  expect(await counts.execute(), 'and counts no send twice').toEqual([{ unseen_sends: 1n }]);
  await now.close();
});

it('P25: an adopted ledger has a mark of its own, and its old one does not halt it again', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.close();
  writeFileSync(`${ledger.path}.mark`, `another-ledger 99 ${'a'.repeat(64)}\n`);
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(15_000), now: at(20_000) }));
  expect(await haltInWords(now.db)).toBeUndefined();
  await now.close();
});

it('P25: an adoption that dies before its own mark is written stays adopted', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.close();
  writeFileSync(`${ledger.path}.mark`, `another-ledger 99 ${'a'.repeat(64)}\n`);
  mkdirSync(`${ledger.path}.mark.new`);
  await expect(adopt(10_000)).rejects.toThrow('mark cannot be written');
  rmSync(`${ledger.path}.mark.new`, { recursive: true });
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect((await haltInWords(now.db))?.cause).toContain('reconcile --full');
  await now.close();
});

it('P25: a batch that was being taken in does not become ready after the adoption', async () => {
  const ids = await addBatch(ledger, ['R-1', 'R-2'], { phase: 'loading', state: 'held' });
  await ledger.db.updateTable('batches').set({ body_digest: 'decided' }).execute();
  await tamper(
    ledger,
    `delete from history where payout_id = ${ids[1]};
      update payouts set history_seq = 0, history_head = '' where id = ${ids[1]}`,
  );
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect(await states(now)).toEqual({ 'R-1': 'unknown', 'R-2': 'unknown' });
  expect(await now.db.selectFrom('batches').select('phase').execute()).toEqual([{ phase: 'loaded' }]);
  const events = now.db
    .selectFrom('history')
    .select('event')
    .where('payout_id', '=', ids[1] ?? 0n);
  expect((await events.execute()).map((row) => row.event)).toEqual(['intake', 'adopted']);
  await now.close();
});

it('P25: nothing is cancelled as never sent while the ledger went back in time', async () => {
  await addBatch(ledger, ['R-1'], { id: 'b-1' });
  const cancel = () =>
    cancelUnsent(ledger, { batch: 'b-1', at: at(5), source: 'person:Ada', why: 'cancelled' });
  await ledger.write((trx) =>
    raiseBarrier(trx, barrierKeys.behind, { at: at(1), why: 'it went back', advice: null }),
  );
  expect(await cancel()).toMatchObject({ cancelled: 0, listed: 1, why: { why: 'it went back' } });
  await ledger.write((trx) => dropMeta(trx, [barrierKeys.behind]));
  expect(await cancel()).toMatchObject({ cancelled: 1, listed: 0 });
});
