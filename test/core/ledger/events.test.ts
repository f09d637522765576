import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { forgetFall, noteAdoption, noteFall } from '../../../src/core/ledger/barriers.ts';
import { newestCursor, readEvents } from '../../../src/core/ledger/event-feed.ts';
import { tell } from '../../../src/core/ledger/events.ts';
import type { EventJson } from '../../../src/core/shapes/event-shapes.ts';
import type { Db, Trx } from '../../../src/core/storage/ledger.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { loadBatch } from '../../support/loaded-batch.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
});

async function page(after: string | null, limit = 100, db: Db | Trx = ledger.db, details = false) {
  const read = await readEvents(db, { after, limit, details });
  if (read.kind === 'lost') throw new Error(`lost: ${read.why}`);
  return read;
}

/** Every event after a cursor, read in pages of `limit`. */
async function all(after: string | null = null, limit = 100): Promise<EventJson[]> {
  const events: EventJson[] = [];
  for (let next: string | null = after; ; ) {
    const read = await page(next, limit);
    events.push(...read.events);
    if (read.next === null) return events;
    ({ next } = read);
  }
}

const line = ({ type, batch, reference, data }: EventJson): string =>
  [
    type,
    reference ?? batch,
    ...(type === 'payout.changed' ? [data.from, data.to, data.evidence] : [JSON.stringify(data)]),
  ].join(' ');

async function lines(after: string | null = null, limit = 100): Promise<string[]> {
  return (await all(after, limit)).map(line);
}

/** A batch of two payouts that is taken in, sent and answered. */
async function oneDay(): Promise<void> {
  await loadBatch(ledger, ['R-1', 'R-2']);
  const claims = await claimAt(ledger, at(1), 2);
  for (const claim of claims)
    await recordOutcome(
      ledger,
      at(2),
      claim,
      claim.reference === 'R-1' ? replies.accepted() : replies.refused(),
    );
}

const day = [
  'batch.taken b-1 {"name":"b-1","rows":2,"totals":{"NGN":"3000.00"}}',
  'payout.changed R-1 ready sending ',
  'payout.changed R-2 ready sending ',
  'payout.changed R-1 sending pending response',
  'payout.changed R-2 sending refused response',
  'batch.sent b-1 {"payouts":{"pending":1,"refused":1}}',
];

it('P39: tells each change of batches and payouts once, in the order of their commits', async () => {
  await oneDay();
  expect(await lines()).toEqual(day);
  const ids = (await all()).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('P39: pages of any size hold the same events under the same ids and cursors', async () => {
  await oneDay();
  const whole = await all();
  for (const limit of [1, 2, 3, 5, 6, 7]) expect(await all(null, limit)).toEqual(whole);
  for (const [i, { cursor }] of whole.entries()) expect(await all(cursor)).toEqual(whole.slice(i + 1));
});

it('P39: nothing is told of a transaction that is not committed', async () => {
  await oneDay();
  const before = await all();
  const broken = ledger.write(async (trx) => {
    await tell(trx, at(5), [{ type: 'halt.raised', data: { kind: 'person' } }]);
    expect((await page(null, 100, trx)).events).toHaveLength(before.length + 1);
    throw new Error('broken off');
  });
  await expect(broken).rejects.toThrow('broken off');
  expect(await all()).toEqual(before);
});

it('P39: an event of a transaction stands between the entries before and after it', async () => {
  await oneDay();
  await ledger.write((trx) => tell(trx, at(3), [{ type: 'halt.raised', data: { kind: 'person' } }]));
  await loadBatch(ledger, ['S-1'], { id: 'b-2' });
  await claimAt(ledger, at(4));
  expect((await lines()).slice(day.length)).toEqual([
    'halt.raised  {"kind":"person"}',
    'batch.taken b-2 {"name":"b-2","rows":1,"totals":{"NGN":"1500.00"}}',
    'payout.changed S-1 ready sending ',
  ]);
});

it('tells no bank details unless they are asked for', async () => {
  await oneDay();
  expect(JSON.stringify(await all())).not.toMatch(/0123456789|ADA OBI|000013/);
  const { events } = await page(null, 2, ledger.db, true);
  expect(events[1]?.data).toEqual({
    from: 'ready',
    to: 'sending',
    evidence: '',
    account_number: '0123456789',
    bank_code: '000013',
    account_name: 'ADA OBI',
    currency: 'NGN',
    amount: '1500.00',
  });
});

it('notes the state of a batch from before there were events, and tells its next change', async () => {
  await addBatch(ledger, ['R-1']);
  const [claim] = await claimAt(ledger, at(1));
  if (claim) await recordOutcome(ledger, at(2), claim, replies.accepted());
  expect(await lines()).toEqual([
    'payout.changed R-1 ready sending ',
    'payout.changed R-1 sending pending response',
    'batch.sent b-1 {"payouts":{"pending":1}}',
  ]);
});

it('a cursor of a later state of the ledger, or of no ledger, is refused', async () => {
  await oneDay();
  const read = (after: string) => readEvents(ledger.db, { after, limit: 10, details: false });
  expect(await read('99.1')).toEqual({ kind: 'lost', why: 'went_back' });
  expect(await read('1.99')).toEqual({ kind: 'lost', why: 'went_back' });
  expect(await read('1.1.abc')).toEqual({ kind: 'lost', why: 'went_back' });
  expect(await read('x')).toEqual({ kind: 'lost', why: 'unreadable' });
  expect(await lines(await newestCursor(ledger.db))).toEqual([]);
});

it('a page over the intake of many payouts goes on, though it tells nothing', async () => {
  await loadBatch(
    ledger,
    Array.from({ length: 5001 }, (_, i) => `R-${i}`),
  );
  const first = await page(null);
  expect(first.events).toEqual([]);
  expect(first.next).toBe('5000.0');
  const { events, next } = await page(first.next);
  expect(events.map(({ type }) => type)).toEqual(['batch.taken']);
  expect(next).toBe(null);
});

it('P25, P39: a ledger that went back in time tells nothing until it is adopted, and then under other ids', async () => {
  await oneDay();
  const before = await all();
  const barrier = { at: at(10), why: 'a backup was restored', advice: { kind: 'adopt' as const } };
  await ledger.write((trx) => noteFall(trx, barrier));
  // The lost copy went on, and told this under the numbers that now come again.
  const lost = '7.2';
  await loadBatch(ledger, ['S-1'], { id: 'b-2' });
  expect(await all()).toEqual(before);
  await ledger.write(async (trx) => {
    await forgetFall(trx);
    await noteAdoption(trx, at(20));
  });
  const after = (await all()).slice(before.length);
  expect(after.map(line)).toEqual([
    'batch.taken b-2 {"name":"b-2","rows":1,"totals":{"NGN":"1500.00"}}',
    'halt.raised  {"kind":"barrier"}',
  ]);
  const mark = Date.parse(at(20)).toString(36);
  for (const { id, cursor } of after)
    for (const text of [id, cursor]) expect(text.endsWith(`.${mark}`)).toBe(true);
  const read = (cursor: string) => readEvents(ledger.db, { after: cursor, limit: 10, details: false });
  expect(await read(lost)).toEqual({ kind: 'lost', why: 'went_back' });
  // What both copies have is no reason to begin again.
  expect(await all(before.at(-1)?.cursor)).toEqual(after);
});
