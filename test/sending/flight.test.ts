import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Claim } from '../../src/sending/claims.sql.ts';
import { createFlight, type Done, type Order } from '../../src/sending/flight.ts';

const claimOf = (reference: string): Claim => ({ payoutId: 1n, attemptId: 1n, reference, body: '{}' });
const refused: Outcome = { kind: 'refused', code: '01', httpStatus: 200, message: '', raw: '' };
const lost: Outcome = { kind: 'unknown', code: null, httpStatus: null, message: '', raw: '', halts: false };

const never = () => new Promise<void>(() => undefined);
/** A flight whose patience never ends by itself, and requests that are answered when the test says so. */
function underWay(names: readonly string[], { sleep = never, atOnce = 8 } = {}) {
  const flight = createFlight({ ...systemClock(), sleep }, atOnce);
  const begun = new Map<string, (outcome: Outcome) => void>();
  const orderOf = (reference: string): Order => {
    const claim = claimOf(reference);
    const send = async (): Promise<Done> => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      begun.set(reference, resolve);
      return { claim, outcome: await promise, tried: true, tookMs: 1 };
    };
    return { claim, send };
  };
  const launch = (more: readonly string[]) => flight.launch(more.map(orderOf));
  const reply = async (reference: string, outcome = refused): Promise<void> => {
    begun.get(reference)?.(outcome);
    await setImmediate();
  };
  launch(names);
  return { flight, launch, reply, begun: () => [...begun.keys()] };
}

const references = (done: readonly Done[]): string[] => done.map(({ claim }) => claim.reference);
const broken: Order = {
  claim: claimOf('R-0'),
  send: () => Promise.reject(new Error('a fault of the client')),
};

it('waits until enough answers share a commit, and gives them in the order in which they came', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  let isGathered = false;
  const gathered = flight.gathered(2).then(() => (isGathered = true));
  await reply('R-3');
  expect(isGathered).toBe(false);
  await reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-3', 'R-1']);
  expect([flight.open(), flight.answered()]).toEqual([1, 0]);
});

it('does not wait for more answers than are under way', async () => {
  const { flight, reply } = underWay(['R-1']);
  const gathered = flight.gathered(16);
  await reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-1']);
});

it('lets an answer wait for others a moment only', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2'], { sleep: async () => undefined });
  const gathered = flight.gathered(2);
  await reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-1']);
});

it('goes on without an answer when something else is ready', async () => {
  const { flight } = underWay(['R-1']);
  await flight.gathered(1, Promise.resolve());
  expect(flight.take()).toEqual([]);
});

it('P12: at the end it waits for all that is under way, and gives the last of it', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2']);
  await reply('R-1');
  const landed = flight.landed();
  await reply('R-2');
  expect(references(await landed)).toEqual(['R-1', 'R-2']);
});

it('throws what a client threw that should never throw, once its answers are asked for', async () => {
  const flight = createFlight(systemClock(), 8);
  flight.launch([broken]);
  await flight.gathered(1);
  expect(() => flight.take()).toThrow('a fault of the client');
});

it('P12: what a client threw ends no wait for the answers that are under way beside it', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  flight.launch([broken]);
  await flight.gathered(1);
  const landed = flight.landed();
  for (const reference of ['R-1', 'R-2', 'R-3']) {
    await reply(reference);
  }
  expect(references(await landed)).toEqual(['R-1', 'R-2', 'R-3']);
});

it('sends so many at once, and the next when one is answered', async () => {
  const { flight, reply, begun } = underWay(['R-1', 'R-2', 'R-3', 'R-4'], { atOnce: 2 });
  expect(begun()).toEqual(['R-1', 'R-2']);
  await reply('R-2');
  expect(begun()).toEqual(['R-1', 'R-2', 'R-3']);
  expect([flight.open(), flight.answered()]).toEqual([3, 1]);
});

it('P11: after an answer that may stop sending no request begins: what waits comes in as not sent', async () => {
  const { flight, launch, reply, begun } = underWay(['R-1', 'R-2', 'R-3', 'R-4'], { atOnce: 2 });
  await reply('R-1', lost);
  expect(begun()).toEqual(['R-1', 'R-2']);
  const untried = { outcome: { kind: 'not_sent' }, tried: false };
  expect(flight.take()).toMatchObject([{ outcome: lost }, untried, untried]);
  launch(['R-5', 'R-6']);
  await reply('R-2', lost);
  expect(begun(), 'what was launched into a free slot goes').toEqual(['R-1', 'R-2', 'R-5']);
  expect(references(flight.take())).toEqual(['R-2', 'R-6']);
});

it('P11: what a halt takes back does not say that an answer was the cause', () => {
  const { flight } = underWay(['R-1', 'R-2'], { atOnce: 1 });
  flight.takeBack();
  expect(flight.take()).toMatchObject([{ outcome: { message: 'taken back while it waited to be sent' } }]);
});

it('P12: at the end nothing that waits is sent', async () => {
  const { flight, reply, begun } = underWay(['R-1', 'R-2'], { atOnce: 1 });
  const landed = flight.landed();
  await reply('R-1');
  expect(references(await landed).sort()).toEqual(['R-1', 'R-2']);
  expect(begun()).toEqual(['R-1']);
});
