import { expect, it } from 'vitest';
import { createWorkers } from '../../../src/core/runtime/worker-lock.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { takeOver } from '../../../src/sending/take-over.ts';
import { at } from '../../support/ledger.ts';
import { lookUpsOf } from './setting.ts';
import { counting, statesOf, toldAbout } from './webhook-questions.ts';
import { client, clock, ledger, withService } from './with-service.ts';

withService();

const budget = 500;
const noPage = async () =>
  ({ kind: 'trouble', reason: 'timeout', message: '', httpStatus: null, retryAfterMs: null }) as const;

it('two processes together ask each due question once', async () => {
  const ids = await toldAbout(30);
  const { service, details } = counting({ listPage: noPage });
  const [one, other] = ['w-1', 'w-2'].map((workerId) => lookUpsOf(ledger, clock, service, { workerId }));
  const asked = await Promise.all([one?.askDue({ budget: 15 }), other?.askDue({ budget })]);
  expect(asked).toEqual([15, 15]);
  expect(details.toSorted()).toEqual([...new Set(details)].toSorted());
  expect(new Set(await statesOf(ids))).toEqual(new Set(['success']));
});

it('a question that a person or another stage wants now is not asked by the next process as well', async () => {
  const ids = await toldAbout(3);
  const { service, details } = counting();
  const other = lookUpsOf(ledger, clock, service, { workerId: 'w-2' });
  const meanwhile: ServiceClient = {
    ...service,
    fetchTransferDetails: async (reference) => {
      await other.askDue({ budget });
      return service.fetchTransferDetails(reference);
    },
  };
  await lookUpsOf(ledger, clock, meanwhile).lookUp(ids);
  expect(details).toHaveLength(3);
});

it('P3: what a dead process was asking is asked by another once it was taken over', async () => {
  const ids = await toldAbout(4);
  const dead = createWorkers({ ledger, clock, id: 'w-dead' });
  await dead.start('serve');
  const hung: ServiceClient = { ...client, fetchTransferDetails: () => new Promise(() => undefined) };
  void lookUpsOf(ledger, clock, hung, { workerId: 'w-dead' }).askDue({ budget });
  const { service, details } = counting({ listPage: noPage });
  const living = lookUpsOf(ledger, clock, service, { workerId: 'w-1' });
  await expect.poll(() => living.isWaiting()).toBe(false);
  expect(await living.askDue({ budget }), 'its process lives').toBe(0);
  // Only the lock of a process says that it lives; here it ends as a kill would free it.
  await takeOver({ ledger, clock, workers: { dead: async () => ['w-dead'], markEnded: (id) => ends(id) } });
  expect(await living.isWaiting(), 'it wakes whoever lives').toBe(true);
  expect(await living.askDue({ budget })).toBe(4);
  expect(details).toHaveLength(4);
  expect(new Set(await statesOf(ids))).toEqual(new Set(['success']));
  await expect(
    lookUpsOf(ledger, clock, client, { workerId: 'w-dead' }).askDue({ budget }),
    'one that was taken over claims nothing',
  ).resolves.toBe(0);
});

const ends = (id: string): Promise<void> => createWorkers({ ledger, clock, id: 'w-1' }).markEnded(id);

it('questions that an interrupted process did not come to are free for the others', async () => {
  await toldAbout(30);
  const stop = new AbortController();
  const { service } = counting({
    listPage: noPage,
    fetchTransferDetails: (reference) => {
      stop.abort();
      return client.fetchTransferDetails(reference);
    },
  });
  const asked = await lookUpsOf(ledger, clock, service).askDue({ budget, signal: stop.signal });
  const other = lookUpsOf(ledger, clock, counting({ listPage: noPage }).service, { workerId: 'w-2' });
  expect(await other.isWaiting()).toBe(true);
  expect(await other.askDue({ budget })).toBe(30 - asked);
});

it('questions of which a turn failed are asked by the same process again', async () => {
  await toldAbout(4);
  let fails = true;
  const { service } = counting({
    fetchTransferDetails: (reference) => {
      if (fails) throw new Error('an error that nobody expects');
      return client.fetchTransferDetails(reference);
    },
  });
  const lookUps = lookUpsOf(ledger, clock, service);
  await expect(lookUps.askDue({ budget })).rejects.toThrow('nobody expects');
  fails = false;
  expect(await lookUps.askDue({ budget })).toBe(4);
});

it('a service that was silent is not asked again at once for what waits', async () => {
  await toldAbout(30);
  const { service, details } = counting({ listPage: noPage, fetchTransferDetails: noPage });
  const lookUps = lookUpsOf(ledger, clock, service);
  await lookUps.askDue({ budget });
  expect(details.length).toBeLessThan(8);
  expect(await lookUps.isWaiting()).toBe(false);
  clock.set(61_000);
  expect(await lookUps.isWaiting()).toBe(true);
});

it('a rung of the ladder that is due wakes nobody: it belongs to the schedule', async () => {
  await toldAbout(1);
  await ledger.db
    .updateTable('inquiries')
    .set({ rung_due_at: at(0) })
    .execute();
  expect(await lookUpsOf(ledger, clock, client).isWaiting()).toBe(false);
});
