import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import type { Claim } from '../../src/sending/claims.sql.ts';
import { createFlight, type EndedIntent } from '../../src/sending/flight.ts';

const claimOf = (reference: string): Claim => ({
  payoutId: 1n,
  attemptId: 1n,
  reference,
  batch: 'B',
  body: '{}',
});
const refused: AttemptOutcome = { kind: 'refused', code: '01', httpStatus: 200, message: '', raw: '' };
const lost: AttemptOutcome = {
  kind: 'unknown',
  code: null,
  httpStatus: null,
  message: '',
  raw: '',
  halts: false,
};

const never = () => new Promise<void>(() => undefined);
/** A flight whose patience never ends by itself, and requests that are answered when the test says so. */
function underWay(names: readonly string[], { sleep = never } = {}) {
  const flight = createFlight({ ...systemClock(), sleep });
  const answers = new Map<string, (done: EndedIntent) => void>();
  for (const reference of names) {
    const { promise, resolve } = Promise.withResolvers<EndedIntent>();
    answers.set(reference, resolve);
    flight.launch(promise);
  }
  const reply = async (reference: string, outcome = refused): Promise<void> => {
    answers.get(reference)?.({ claim: claimOf(reference), outcome, keptBack: null });
    await setImmediate();
  };
  return { flight, reply };
}

const references = (done: readonly EndedIntent[]): string[] => done.map(({ claim }) => claim.reference);
const broken = (): Promise<EndedIntent> => Promise.reject(new Error('a fault of the client'));

it('waits until enough answers share a commit, and gives them in the order in which they came', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  let isGathered = false;
  const gathered = flight.gathered(2).then(() => (isGathered = true));
  await reply('R-3');
  expect(isGathered).toBe(false);
  await reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-3', 'R-1']);
  expect([flight.underWay(), flight.answered()]).toEqual([1, 0]);
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
  const flight = createFlight(systemClock());
  flight.launch(broken());
  await flight.gathered(1);
  expect(() => flight.take()).toThrow('a fault of the client');
});

it('P12: what a client threw ends no wait for the answers that are under way beside it', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  flight.launch(broken());
  await flight.gathered(1);
  const landed = flight.landed();
  for (const reference of ['R-1', 'R-2', 'R-3']) {
    await reply(reference);
  }
  expect(references(await landed)).toEqual(['R-1', 'R-2', 'R-3']);
});

it('P8, P11: after an answer that may stop sending no request begins until that answer is written', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2']);
  await reply('R-1', refused);
  expect(flight.mayBegin()).toBe(true);
  await reply('R-2', lost);
  expect(flight.mayBegin()).toBe(false);
  flight.take();
  expect(flight.mayBegin(), 'taken is not yet written').toBe(false);
  flight.written();
  expect(flight.mayBegin()).toBe(true);
});

it('P11, P12: once it has stopped, or is landing, no request begins', async () => {
  const { flight } = underWay([]);
  flight.stop();
  expect(flight.mayBegin()).toBe(false);
  const other = underWay([]).flight;
  await other.landed();
  expect(other.mayBegin()).toBe(false);
});

it('P12: answers that were taken and not written are given again at the end', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  await reply('R-1');
  flight.take();
  flight.written();
  await reply('R-2');
  flight.take();
  const landed = flight.landed();
  await reply('R-3');
  expect(references(await landed)).toEqual(['R-2', 'R-3']);
});
