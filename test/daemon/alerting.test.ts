import { expect, it } from 'vitest';
import type { Clock } from '../../src/core/runtime/clock.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { createAlerting } from '../../src/daemon/alerting.ts';

/** Looks as a daemon does, each look so long and with its queue in this state; returns what it told and when it looked. */
async function keep(
  looks: readonly { tookMs: number; stuck?: boolean }[],
  { causeAtMs = [] }: { causeAtMs?: readonly number[] } = {},
) {
  const stopping = new AbortController();
  const lookedAt: number[] = [];
  const told: (boolean | undefined)[] = [];
  let mono = 0;
  const present = () => looks[told.length];
  const clock: Clock = {
    now: () => mono,
    iso: () => new Date(mono).toISOString(),
    monotonic: () => mono,
    async sleep(ms) {
      mono += ms;
      if (told.length === looks.length) stopping.abort();
    },
  };
  const alerts = {
    isOn: true,
    forgetOthers: async () => undefined,
    deliver: async () => undefined,
    sayStopped: async () => undefined,
    causes: async () => String(causeAtMs.filter((at) => at <= mono).length),
    async look({ isQueueStuck }: { isQueueStuck?: boolean }) {
      lookedAt.push(mono);
      mono += present()?.tookMs ?? 0;
      told.push(isQueueStuck);
    },
  };
  const eventPosts = { isOn: false, post: async () => undefined, forget: async () => undefined };
  const log = createLogger({ to: { write: () => undefined } });
  const keepTelling = createAlerting(
    { alerts, clock, eventPosts, log },
    {
      stopping: stopping.signal,
      watched: (work) => work,
      isQueueStuck: async () => present()?.stuck ?? false,
      service: () => undefined,
    },
  );
  await keepTelling();
  return { lookedAt, told };
}

it('looks every minute, less often where a look takes long, and at least every two minutes', async () => {
  const { lookedAt } = await keep([{ tookMs: 10 }, { tookMs: 1600 }, { tookMs: 5000 }, { tookMs: 0 }]);
  expect(lookedAt).toEqual([0, 60_010, 141_610, 266_610]);
});

it('looks within seconds of a commit that records a cause, also where a look takes long', async () => {
  const { lookedAt } = await keep([{ tookMs: 10 }, { tookMs: 2000 }, { tookMs: 10 }, { tookMs: 10 }], {
    causeAtMs: [5500, 6500],
  });
  expect(lookedAt.slice(0, 3)).toEqual([0, 6010, 11_010]);
});

it('calls a queue stuck only after a minute, however many causes come meanwhile', async () => {
  const looks = [true, true, true].map((stuck) => ({ tookMs: 0, stuck }));
  const { told } = await keep(looks, { causeAtMs: [1500] });
  expect(told).toEqual([false, false, true]);
});

it('calls a queue stuck at the second look in a row', async () => {
  const { told } = await keep([true, false, true, true, true, false].map((stuck) => ({ tookMs: 0, stuck })));
  expect(told).toEqual([false, false, false, true, true, false]);
});
