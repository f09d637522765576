import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { createSandbox, type Fault, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { stopText } from '../../src/words/stop-words.ts';
import { totalsOf } from '../support/booked-totals.ts';
import { addBatch, born, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { clientOf, named, senderOf } from './setting.ts';

let ledger: TestLedger;
let sandbox: Sandbox;
const clients: ServiceClient[] = [];
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await sandbox.stop();
  await ledger.remove();
});

async function service(
  faults: Record<string, Fault> = {},
  more: SandboxOptions = {},
): Promise<ServiceClient> {
  sandbox = await createSandbox({ settleMs: 60_000, strictSignature: true, faults, ...more });
  const client = clientOf(sandbox);
  clients.push(client);
  return client;
}
const bodies = (references: string[]): number[] => references.map((r) => sandbox.requests.bodies(r));
const counted = async () => {
  const counts: Record<string, number> = {};
  for (const state of Object.values(await states(ledger))) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};

it('P1: sends each ready payout once, and the service books what was frozen', async () => {
  const client = await service();
  await addBatch(ledger, named(12));
  const result = await senderOf(ledger, client).run();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 12, unknown: 0 } });
  expect(await counted()).toEqual({ pending: 12 });
  expect(bodies(named(12))).toEqual(Array(12).fill(1));
  expect(totalsOf(sandbox.book.transfers('test')).NGN?.pending).toEqual({ count: 12, minor: 1_800_000n });
});

it('P8: a lost answer is unknown and never sent again by itself', async () => {
  const client = await service({ 'R-2': 'lost_answer' });
  await addBatch(ledger, named(5));
  expect((await senderOf(ledger, client).run()).counts).toMatchObject({ accepted: 4, unknown: 1 });
  await senderOf(ledger, client).run();
  expect(await counted()).toEqual({ pending: 4, unknown: 1 });
  expect(bodies(named(5))).toEqual([1, 1, 1, 1, 1]);
});

it('P11: three lost answers in a row halt the mode, and the rest stays ready', async () => {
  const client = await service({ 'R-1': 'lost_answer', 'R-2': 'lost_before', 'R-3': 'error_500_after' });
  await addBatch(ledger, named(9));
  const result = await senderOf(ledger, client).run();
  expect({ ...result, detail: stopText(result) }).toMatchObject({
    ended: 'halted',
    detail: 'halted: unknowns',
  });
  expect((await haltInWords(ledger.db))?.cause).toBe('3 unknown outcomes in a row');
  expect(await counted()).toEqual({ unknown: 3, ready: 6 });
  expect((await senderOf(ledger, client).run()).ended).toBe('halted');
  expect(sandbox.requests.posts).toBe(3);
});

it('P6: a refusal concerns its payout alone', async () => {
  const client = await service({ 'R-2': 'refuse_24' });
  await addBatch(ledger, named(3));
  expect((await senderOf(ledger, client).run()).ended).toBe('drained');
  expect(await states(ledger)).toEqual({ 'R-1': 'pending', 'R-2': 'refused', 'R-3': 'pending' });
});

it('P11: an answer about the account halts the mode at once and names its cause', async () => {
  const client = await service({ 'R-1': 'insufficient' });
  await addBatch(ledger, named(6));
  expect((await senderOf(ledger, client).run()).ended).toBe('halted');
  expect((await haltInWords(ledger.db))?.cause).toMatch(/10 .*R-1/);
  expect(await states(ledger)).toMatchObject({ 'R-1': 'unknown', 'R-2': 'ready', 'R-6': 'ready' });
});

it('P8: after a 429 a look-up comes first, and then the payout is taken once', async () => {
  const client = await service({ 'R-2': 'rate_limited_once' });
  await addBatch(ledger, named(3));
  expect((await senderOf(ledger, client).run()).ended).toBe('drained');
  const asked = await ledger.db.selectFrom('inquiries').select('outcome').execute();
  expect(asked, 'the look-up comes first (P8)').toEqual([{ outcome: 'not_found' }]);
  expect(await states(ledger)).toEqual({ 'R-1': 'pending', 'R-2': 'pending', 'R-3': 'pending' });
  expect(bodies(['R-2'])).toEqual([2]);
  expect(sandbox.book.find('R-2')).toHaveLength(1);
});

it.each([undefined, 0])(
  'P8: Retry-After keeps every other POST waiting too (of %s ms)',
  async (retryAfterMs) => {
    const client = await service({ 'R-2': 'rate_limited_once' });
    await addBatch(ledger, named(3));
    const real = systemClock();
    let slept = 0;
    const clock: Clock = {
      ...real,
      monotonic: () => real.monotonic() + slept,
      sleep: async (ms) => {
        slept += ms;
      },
    };
    const begun: number[] = [];
    const watched: ServiceClient = {
      ...client,
      // The client's own clock does not jump.
      orderPauseMs: () => client.orderPauseMs() - slept,
      bankTransfer: async (...order) => {
        begun.push(clock.monotonic());
        const outcome = await client.bankTransfer(...order);
        const isOther = outcome.kind === 'turned_away' && retryAfterMs !== undefined;
        return isOther ? { ...outcome, retryAfterMs } : outcome;
      },
    };
    await senderOf(ledger, watched, { clock, concurrency: 1 }).run();
    const [, second = 0, third = 0] = begun;
    expect(third - second).toBeGreaterThanOrEqual(1000);
  },
);

it('P12: an answer whose commit failed is written once the ledger can be written again', async () => {
  const client = await service();
  await addBatch(ledger, named(1));
  let writes = 0;
  const failing: typeof ledger = {
    ...ledger,
    write: async (work) => {
      if (++writes === 2) throw new Error('the disk failed');
      return ledger.write(work);
    },
  };
  await expect(senderOf(failing, client).run()).rejects.toThrow('the disk failed');
  expect(await states(ledger)).toEqual({ 'R-1': 'pending' });
});

it('P7: nobody listening: three attempts are proven not sent, then the sender stops and all stay ready', async () => {
  await service();
  await sandbox.stop();
  const client = clientOf(sandbox);
  clients.push(client);
  await addBatch(ledger, named(8));
  const result = await senderOf(ledger, client).run();
  expect(result).toMatchObject({ ended: 'unreachable', counts: { not_sent: 3, unknown: 0 } });
  expect(await counted()).toEqual({ ready: 8 });
});

it('P1: two senders side by side on one ledger send nothing twice', async () => {
  const client = await service({}, { latencyMs: 3 });
  await addBatch(ledger, named(60));
  const other = await openLedger(ledger.path, { now: () => born });
  const results = await Promise.all([
    senderOf(ledger, client, { workerId: 'w-1' }).run(),
    senderOf(other, clientOf2(), { workerId: 'w-2' }).run(),
  ]);
  await other.close();
  expect(results.map((r) => r.ended)).toEqual(['drained', 'drained']);
  expect(results.every((r) => r.counts.accepted > 0)).toBe(true);
  expect(bodies(named(60))).toEqual(Array(60).fill(1));
});
function clientOf2(): ServiceClient {
  const client = clientOf(sandbox);
  clients.push(client);
  return client;
}

it('sends one payout alone until the first is accepted, and never more than its slots', async () => {
  const client = await service({}, { latencyMs: 20 });
  await addBatch(ledger, named(10));
  let under = 0;
  const seen: number[] = [];
  const watched: ServiceClient = {
    ...client,
    bankTransfer: async (...args) => {
      const nth = seen.push(++under);
      const answer = await client.bankTransfer(...args);
      // Some answers take longer than a turn waits for them.
      if (nth % 3 === 0) await systemClock().sleep(40);
      under--;
      return answer;
    },
  };
  await senderOf(ledger, watched, { concurrency: 4 }).run();
  expect(seen[0]).toBe(1);
  expect(seen[1], 'the second starts after the first was answered').toBe(1);
  expect(Math.max(...seen)).toBe(4);
});

it('answers that take long leave no slot empty while the rate limit grants one payout at a time', async () => {
  const client = await service();
  await addBatch(ledger, named(9));
  let under = 0;
  const full = Promise.withResolvers<void>();
  const watched: ServiceClient = {
    ...client,
    bankTransfer: async (...args) => {
      if (++under === 4) full.resolve();
      if (args[1] !== 'R-1') await full.promise;
      return client.bankTransfer(...args).finally(() => under--);
    },
  };
  const limiter = { take: async () => undefined, atOnce: 1 };
  const result = await senderOf(ledger, watched, { concurrency: 4, limiter }).run();
  expect(result.counts.accepted).toBe(9);
});

it('a run that follows upon another begins with all its slots, unless the service last answered badly', async () => {
  const client = await service({ 'R-9': 'html_502' }, { latencyMs: 20 });
  let under = 0;
  const seen: number[] = [];
  const watched: ServiceClient = {
    ...client,
    bankTransfer: async (...args) => {
      seen.push(++under);
      return client.bankTransfer(...args).finally(() => under--);
    },
  };
  const sender = senderOf(ledger, watched, { concurrency: 4 });
  await addBatch(ledger, named(4));
  await sender.run();
  await addBatch(ledger, named(8).slice(4), { id: 'b-2' });
  seen.length = 0;
  await sender.run();
  expect(seen).toEqual([1, 2, 3, 4]);
  await addBatch(ledger, ['R-9'], { id: 'b-3' });
  await sender.run();
  await addBatch(ledger, ['R-10', 'R-11'], { id: 'b-4' });
  seen.length = 0;
  await sender.run();
  expect(seen).toEqual([1, 1]);
});

it.each([
  ['wall', 6000],
  ['wall', -6000],
  ['monotonic', 6000],
] as const)(
  'P3: an intent for which the %s clock went on by %i ms is not sent',
  async (which, standstill) => {
    const client = await service();
    await addBatch(ledger, named(1));
    const real = systemClock();
    let late = 0;
    const clock: Clock = {
      ...real,
      now: () => real.now() + (which === 'wall' ? late : 0),
      monotonic: () => real.monotonic() + (which === 'monotonic' ? late : 0),
    };
    // The process stood still between the commit of the intent and the write.
    const slow: typeof ledger = {
      ...ledger,
      write: async (work) => {
        const done = await ledger.write(work);
        late += standstill;
        return done;
      },
    };
    const result = await senderOf(slow, client, { clock }).run();
    expect(sandbox.requests.posts).toBe(0);
    expect(result.counts).toMatchObject({ accepted: 0 });
    expect(await counted()).toEqual({ ready: 1 });
  },
);

it('an interrupted sender starts nothing new and records what was under way', async () => {
  const client = await service({}, { latencyMs: 60 });
  await addBatch(ledger, named(40));
  const stop = new AbortController();
  const result = await senderOf(ledger, client).run({
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  expect(result.ended).toBe('interrupted');
  const { sending = 0, pending = 0, ready = 0 } = await counted();
  expect(sending).toBe(0);
  expect(pending).toBe(sandbox.requests.posts);
  expect(pending + ready).toBe(40);
  expect(ready).toBeGreaterThan(30);
});

it('a batch that is still loading does not keep the sender busy', async () => {
  const client = await service();
  await addBatch(ledger, named(1), { phase: 'loading' });
  const signal = AbortSignal.timeout(1000);
  expect((await senderOf(ledger, client).run({ signal })).ended).toBe('drained');
});
