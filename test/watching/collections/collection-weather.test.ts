import { createHash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { LookUpReply, ServiceTrouble } from '../../../src/core/service/types.ts';
import type { Collection } from '../../../src/core/storage/tables/collection-tables.ts';
import { findCollection } from '../../../src/watching/collections/collections.sql.ts';
import { expectSome, openFile } from '../../../src/watching/collections/expectations.sql.ts';
import { createCollectionLookUps } from '../../../src/watching/collections/verify-collections.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { createRandom } from '../../simulation/random.ts';
import { at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { handClock } from '../lookups/setting.ts';
import {
  answerOf,
  type Booked,
  bookOne,
  heldWithin,
  holds,
  type Shown,
  type Told,
  webhooksOf,
} from './collection-book.ts';

const second = 1_000;
const silence: ServiceTrouble = {
  kind: 'trouble',
  reason: 'timeout',
  message: 'no answer',
  httpStatus: null,
  retryAfterMs: null,
};
type Reply = LookUpReply | ServiceTrouble;
/** The newest question about a collection that got a word, and the word. */
type Newest = { askedAt: number; word: Shown };

async function promiseAll(ledger: TestLedger, books: readonly Booked[]): Promise<void> {
  const file = { id: 'collections-x' };
  const rows = books.flatMap(({ reference, promised }, i) =>
    promised === null
      ? []
      : [{ row: i + 2, reference, referenceKey: reference.toLowerCase(), amount: promised, currency: 'NGN' }],
  );
  await ledger.write(async (trx) => {
    await openFile(trx, { ...file, file_name: 'x.csv', content_hash: 'x', row_count: 1n, created_at: at(0) });
    await expectSome(trx, file.id, at(0), rows);
    await trx.updateTable('collection_files').set({ phase: 'loaded' }).execute();
  });
}

type Day = Awaited<ReturnType<typeof dawn>>;

/** One seed's day of collections, on one clock, with everything that is going to happen in it. */
async function dawn(seed: number, count: number) {
  const random = createRandom(seed);
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const clock = handClock();
  const books = Array.from({ length: count }, (_, i) => bookOne(random, `INV-${i}`));
  await promiseAll(ledger, books);
  const service = { verifyTransaction: async (_reference: string): Promise<Reply> => silence };
  const rules = { concurrency: 1 };
  const limiter = { take: async () => undefined };
  const lookUps = createCollectionLookUps({ ledger, clock, service, limiter, rules });
  return {
    ...{ seed, random, ledger, clock, books, service, lookUps },
    now: () => clock.now() - Date.parse(at(0)),
    newest: new Map<string, Newest>(),
    seen: { received: 0, overtaken: 0, conflict: 0, bare: 0, healed: 0 },
    agenda: [] as { at: number; run: () => Promise<void> }[],
  };
}

/** P14: received only by a word that the book could give after the question it answers, and by the newest one. */
async function check(day: Day, booked: Booked): Promise<Collection | undefined> {
  const row = await findCollection(day.ledger.db, booked.reference);
  if (row?.state === 'conflict') day.seen.conflict += 1;
  if (row?.state !== 'received') return row;
  day.seen.received += 1;
  const asked = Date.parse(row.verified_at ?? '') - Date.parse(at(0));
  const where = `seed ${day.seed}, ${booked.reference} at ${day.now()}`;
  expect(heldWithin(booked, asked, day.now()), `${where}: the book has not`).toBe(true);
  expect(day.newest.get(booked.reference)?.word.status, `${where}: the newest word`).toBe('success');
  if (booked.promised !== null) expect(row.verified_amount ?? row.told_amount, where).toBe('100.00');
  return row;
}

async function hear(day: Day, booked: Booked, { body, reference, trx }: Told): Promise<void> {
  const { ledger, clock } = day;
  const digest = createHash('sha256').update(body).digest('hex');
  const about = { kind: 'transaction' as const, reference, trx, headers: '{}' };
  const delivery = { ...about, digest, receivedAt: clock.iso(), body: Buffer.from(body), stale: false };
  await ledger.write((db) => storeDeliveries(db, [delivery]));
  await applyWebhooks({ ledger, clock });
  await check(day, booked);
}

/** Asks now; the service looks into its book somewhere on the way, and its answer may be overtaken by others. */
async function ask(day: Day, booked: Booked): Promise<void> {
  const { random, newest, seen } = day;
  const row = await findCollection(day.ledger.db, booked.reference);
  if (!row) return;
  const askedAt = day.now();
  const looks = askedAt + random.between(0, 60) * second;
  const gate = Promise.withResolvers<Reply>();
  const called = Promise.withResolvers<void>();
  day.service.verifyTransaction = () => {
    called.resolve();
    return gate.promise;
  };
  const done = day.lookUps.askNow([row.id]);
  await called.promise;
  const answer = random.chance(0.1) ? null : answerOf(random, booked, looks, true);
  const answered = async () => {
    gate.resolve(answer?.reply ?? silence);
    await done;
    const before = newest.get(booked.reference);
    if (answer?.word && before && before.askedAt > askedAt) seen.overtaken += 1;
    else if (answer?.word) newest.set(booked.reference, { askedAt, word: answer.word });
    if (answer?.word?.amount === '') seen.bare += 1;
    await check(day, booked);
  };
  day.agenda.push({ at: looks + random.between(0, 60) * second, run: answered });
}

async function live(day: Day): Promise<void> {
  const { random, agenda, books } = day;
  for (const booked of books) {
    for (const told of webhooksOf(random, booked))
      agenda.push({ at: told.at, run: () => hear(day, booked, told) });
    for (let i = 0; i < 12; i++)
      agenda.push({ at: random.between(0, 600) * second, run: () => ask(day, booked) });
  }
  for (;;) {
    agenda.sort((a, b) => a.at - b.at);
    const next = agenda.shift();
    if (!next) return;
    day.clock.set(next.at);
    await next.run();
  }
}

/** The weather clears: what is due is asked for some days, and answered in time and in full. */
async function clear(day: Day): Promise<void> {
  const byReference = new Map(day.books.map((booked) => [booked.reference, booked]));
  day.service.verifyTransaction = async (reference) => {
    const booked = byReference.get(reference);
    if (!booked) return silence;
    const { reply, word } = answerOf(day.random, booked, day.now(), false);
    if (word) day.newest.set(reference, { askedAt: day.now(), word });
    return reply;
  };
  for (let n = 1; n <= 4; n++) {
    day.clock.set(n * 86_400 * second);
    await day.lookUps.askDue({ budget: 1_000 });
  }
}

it('P14: no weather of webhooks and answers makes a collection received that the book has not', async () => {
  const all = { received: 0, overtaken: 0, conflict: 0, bare: 0, healed: 0 };
  for (let seed = 1; seed <= 8; seed++) {
    const day = await dawn(seed, 14);
    await live(day);
    await clear(day);
    for (const booked of day.books) {
      const row = await check(day, booked);
      const reversed = booked.tries.some(({ moves }) => moves.some(({ status }) => status === 'returned'));
      // What contradicted itself or another stays a person's matter; all else is as the book has it in the end.
      if (!row || reversed || row.state === 'conflict') continue;
      const where = `seed ${seed}, ${booked.reference} is ${row.state}: ${row.answer}`;
      expect(row.state === 'received', where).toBe(holds(booked, day.now()));
      day.seen.healed += 1;
    }
    for (const key of ['received', 'overtaken', 'conflict', 'bare', 'healed'] as const)
      all[key] += day.seen[key];
  }
  for (const [what, n] of Object.entries(all)) expect(n, `${what} was seen too seldom`).toBeGreaterThan(50);
});
