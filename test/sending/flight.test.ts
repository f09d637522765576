import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { createFlight, type Done } from '../../src/sending/flight.ts';

const answer = (reference: string): Done => ({
  claim: { payoutId: 1n, attemptId: 1n, reference, body: '{}' },
  outcome: { kind: 'not_sent', message: 'no' },
  aged: false,
});

/** A flight whose patience never ends by itself, and requests that are answered when the test says so. */
function underWay(references: readonly string[], sleep = () => new Promise<void>(() => undefined)) {
  const flight = createFlight({ ...systemClock(), sleep });
  const answers = new Map<string, () => void>();
  for (const reference of references) {
    const { promise, resolve } = Promise.withResolvers<Done>();
    answers.set(reference, () => resolve(answer(reference)));
    flight.launch(promise);
  }
  return { flight, reply: (reference: string) => answers.get(reference)?.() };
}

const references = (done: readonly Done[]): string[] => done.map(({ claim }) => claim.reference);

it('waits until enough answers share a commit, and gives them in the order in which they came', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  let isGathered = false;
  const gathered = flight.gathered(2).then(() => (isGathered = true));
  reply('R-3');
  await setImmediate();
  expect(isGathered).toBe(false);
  reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-3', 'R-1']);
  expect([flight.underWay(), flight.waiting()]).toEqual([1, 0]);
});

it('does not wait for more answers than are under way', async () => {
  const { flight, reply } = underWay(['R-1']);
  const gathered = flight.gathered(16);
  reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-1']);
});

it('lets an answer wait for others a moment only', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2'], async () => undefined);
  const gathered = flight.gathered(2);
  reply('R-1');
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
  reply('R-1');
  const landed = flight.landed();
  reply('R-2');
  expect(references(await landed)).toEqual(['R-1', 'R-2']);
});

it('throws what a client threw that should never throw, once its answers are asked for', async () => {
  const flight = createFlight(systemClock());
  flight.launch(Promise.reject(new Error('a fault of the client')));
  await flight.gathered(1);
  expect(() => flight.take()).toThrow('a fault of the client');
});

it('P12: what a client threw ends no wait for the answers that are under way beside it', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  flight.launch(Promise.reject(new Error('a fault of the client')));
  await flight.gathered(1);
  const landed = flight.landed();
  for (const reference of ['R-1', 'R-2', 'R-3']) {
    await setImmediate();
    reply(reference);
  }
  expect(references(await landed)).toEqual(['R-1', 'R-2', 'R-3']);
});
