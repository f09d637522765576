import { expect, it, onTestFinished } from 'vitest';
import { addInquiry } from '../../src/core/ledger/inquiries.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { capWaits } from '../../src/sending/waits.ts';
import { notePause, pauseOf } from '../../src/watching/lookups/pauses.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../support/ledger.ts';
import { braked, hour, named } from './brakes-setting.ts';

const minute = 60_000;
const year = 365 * 24 * hour;
const quietPeriodMs = 24 * hour;

async function aged(): Promise<TestLedger> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  return ledger;
}

it.each([
  ['an hour', hour],
  ['a year', year],
])(
  'P33: after the clock went back by %s, each look-up waits no longer than its own rung',
  async (_, back) => {
    const ledger = await aged();
    const ids = await addBatch(ledger, named('R', 6), { state: 'unknown' });
    const ask = (n: number, rung: number, dueMs: number, rungMs?: number) =>
      ledger.write((trx) =>
        addInquiry(trx, {
          payoutId: ids[n] ?? 0n,
          reason: 'asked',
          dueAt: at(back + dueMs),
          rung: BigInt(rung),
          ...(rungMs !== undefined && { rungDueAt: at(back + rungMs) }),
        }),
      );
    await ask(0, 0, minute, minute);
    await ask(1, 3, 45 * minute, 45 * minute);
    await ask(2, 10, hour, hour);
    await ask(3, 40, 24 * hour, 24 * hour);
    await ask(4, 10, 0, hour);
    await ask(5, 0, 0);
    await ledger.write((trx) => capWaits(trx, { at: at(0), quietPeriodMs }));
    const due = await ledger.db.selectFrom('inquiries').selectAll().orderBy('payout_id').execute();
    const waits = due.map(({ due_at }) => Date.parse(due_at) - Date.parse(at(0)));
    // What a webhook brought forward (the fifth), and what is no rung, is asked at once or within its rung.
    expect(waits.map((wait) => wait / minute)).toEqual([1, 45, 60, 24 * 60, back === year ? 0 : 60, 0]);
    expect(due.map(({ rung_due_at }) => rung_due_at && Date.parse(rung_due_at) - Date.parse(at(0)))).toEqual([
      minute,
      45 * minute,
      hour,
      24 * hour,
      hour,
      null,
    ]);
  },
);

it('P33: leaves look-ups that wait for their time where they are', async () => {
  const ledger = await aged();
  const [id = 0n] = await addBatch(ledger, ['R-1'], { state: 'unknown' });
  const rung = { payoutId: id, reason: 'asked' as const, rung: 2n };
  await ledger.write((trx) => addInquiry(trx, { ...rung, dueAt: at(9 * minute), rungDueAt: at(9 * minute) }));
  await ledger.write((trx) => capWaits(trx, { at: at(0), quietPeriodMs }));
  expect(await ledger.db.selectFrom('inquiries').select('due_at').execute()).toEqual([
    { due_at: at(9 * minute) },
  ]);
});

it('P33: a pause of the service lasts no longer than it did before the clock went back', async () => {
  const ledger = await aged();
  const pause = { leftMs: 2 * minute, strikes: 1, why: 'throttled' };
  await ledger.write((trx) => notePause(trx, 'test resends', pause, Date.parse(at(hour))));
  expect(await pauseOf(ledger.db, 'test resends', Date.parse(at(0)))).toEqual(pause);
  await ledger.write((trx) => capWaits(trx, { at: at(0), quietPeriodMs }));
  expect((await pauseOf(ledger.db, 'test resends', Date.parse(at(2 * minute)))).leftMs).toBe(0);
});

it('P33: a canary that nobody hears of halts after its hours, although the clock went back by a year', async () => {
  const { ledger, claimUnder } = await braked();
  const brakes = { ...noBrakes, canary: 1, canaryHours: 4 };
  await addBatch(ledger, named('A', 3));
  expect(await claimUnder(brakes, year)).toEqual(['A-1']);
  await ledger.write((trx) => capWaits(trx, { at: at(0), quietPeriodMs }));
  expect(await claimUnder(brakes, 3 * hour)).toEqual([]);
  expect(await haltInWords(ledger.db)).toBeUndefined();
  expect(await claimUnder(brakes, 4 * hour)).toEqual([]);
  expect((await haltInWords(ledger.db))?.cause).toContain('canary');
});
