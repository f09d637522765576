import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Claim } from '../../src/sending/claims.sql.ts';
import { createFlight, type Done, type Request } from '../../src/sending/flight.ts';

const raw = { httpStatus: 200, message: '', raw: '' };
const outcomes = {
  accepted: { kind: 'accepted', transferId: '7', status: 'pending', ...raw },
  refused: { kind: 'refused', code: '24', ...raw },
  not_sent: { kind: 'not_sent', message: 'no' },
  turned_away: { kind: 'turned_away', retryAfterMs: null, code: null, ...raw },
  unknown: { kind: 'unknown', code: null, halts: false, ...raw },
} satisfies Record<Outcome['kind'], Outcome>;

const claimOf = (reference: string): Claim => ({ payoutId: 1n, attemptId: 1n, reference, body: '{}' });
const answer = (reference: string, kind: Outcome['kind'] = 'not_sent'): Done => ({
  claim: claimOf(reference),
  outcome: outcomes[kind],
  begun: true,
  aged: false,
  tookMs: 1,
});
const faulty: Request = {
  claim: claimOf('R-0'),
  send: () => Promise.reject(new Error('a fault of the client')),
};

/** A flight whose patience never ends by itself, and requests that are answered when the test says so. */
function underWay(references: readonly string[], { sleep = () => never, slots = 8, ...more }: Setting = {}) {
  const flight = createFlight({ ...systemClock(), sleep }, slots, more.signal);
  const begun: string[] = [];
  const answers = new Map(references.map((one) => [one, Promise.withResolvers<Done>()]));
  const requests = [...answers].map(([reference, { promise }]): Request => {
    const send = () => {
      begun.push(reference);
      return promise;
    };
    return { claim: claimOf(reference), send };
  });
  flight.launch(requests);
  const reply = async (reference: string, kind?: Outcome['kind']): Promise<void> => {
    answers.get(reference)?.resolve(answer(reference, kind));
    await setImmediate();
  };
  return { flight, begun, reply };
}

type Setting = { sleep?: () => Promise<void>; slots?: number; signal?: AbortSignal };
const never = new Promise<void>(() => undefined);

const references = (done: readonly Done[]): string[] => done.map(({ claim }) => claim.reference);

it('waits until enough answers share a commit, and gives them in the order in which they came', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  let isGathered = false;
  const gathered = flight.gathered(2).then(() => (isGathered = true));
  await reply('R-3');
  expect(isGathered).toBe(false);
  await reply('R-1');
  await gathered;
  expect(references(flight.take())).toEqual(['R-3', 'R-1']);
  expect([flight.underWay(), flight.waiting()]).toEqual([1, 0]);
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
  const flight = createFlight(systemClock(), 1);
  flight.launch([faulty]);
  await flight.gathered(1);
  expect(() => flight.take()).toThrow('a fault of the client');
});

it('P12: what a client threw ends no wait for the answers that are under way beside it', async () => {
  const { flight, reply } = underWay(['R-1', 'R-2', 'R-3']);
  flight.launch([faulty]);
  await flight.gathered(1);
  const landed = flight.landed();
  for (const reference of ['R-1', 'R-2', 'R-3']) {
    await reply(reference);
  }
  expect(references(await landed)).toEqual(['R-1', 'R-2', 'R-3']);
});

it('P1: sends no more at a time than it has slots; each answer lets the next go', async () => {
  const { flight, begun, reply } = underWay(['R-1', 'R-2', 'R-3', 'R-4'], { slots: 2 });
  expect([begun, flight.underWay(), flight.queued()]).toEqual([['R-1', 'R-2'], 2, 2]);
  await reply('R-2', 'accepted');
  expect(begun).toEqual(['R-1', 'R-2', 'R-3']);
  await reply('R-3', 'refused');
  expect([begun.at(-1), flight.underWay(), flight.queued()]).toEqual(['R-4', 2, 0]);
});

it.each(['unknown', 'turned_away', 'not_sent'] as const)(
  'P11: after the answer "%s" nothing begins before the loop has taken it',
  async (kind) => {
    const { flight, begun, reply } = underWay(['R-1', 'R-2', 'R-3', 'R-4'], { slots: 2 });
    await reply('R-1', kind);
    await reply('R-2', 'accepted');
    expect(begun).toEqual(['R-1', 'R-2']);
    flight.launch([]);
    expect(begun, 'not taken yet').toEqual(['R-1', 'R-2']);
    flight.take();
    flight.launch([]);
    expect(begun).toEqual(['R-1', 'R-2', 'R-3', 'R-4']);
  },
);

it('P7: gives back what has not begun as not sent, and never sends it', async () => {
  const { flight, begun, reply } = underWay(['R-1', 'R-2'], { slots: 1 });
  expect(flight.recall().map(({ claim, outcome }) => [claim.reference, outcome.kind])).toEqual([
    ['R-2', 'not_sent'],
  ]);
  await reply('R-1', 'accepted');
  expect([begun, flight.queued()]).toEqual([['R-1'], 0]);
});

it('P12: at the end it begins nothing more and gives back what had not begun', async () => {
  const { flight, begun, reply } = underWay(['R-1', 'R-2'], { slots: 1 });
  const landed = flight.landed();
  await reply('R-1', 'accepted');
  expect((await landed).map(({ outcome }) => outcome.kind)).toEqual(['accepted', 'not_sent']);
  expect(begun).toEqual(['R-1']);
});

it('begins nothing more after an interrupt', async () => {
  const interrupt = new AbortController();
  const { flight, begun, reply } = underWay(['R-1', 'R-2'], { slots: 1, signal: interrupt.signal });
  interrupt.abort();
  await reply('R-1', 'accepted');
  expect([begun, flight.queued()]).toEqual([['R-1'], 1]);
});
