import { expect, it } from 'vitest';
import { createAlerting } from '../../src/daemon/alerting.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/logger.ts';

/** Looks as a daemon does, each look so long and with its queue in this state; returns what it told and how it rested. */
async function keep(looks: readonly { tookMs: number; stuck?: boolean }[]) {
  const stopping = new AbortController();
  const rests: number[] = [];
  const told: (boolean | undefined)[] = [];
  let mono = 0;
  const present = () => looks[told.length];
  const clock: Clock = {
    now: () => mono,
    iso: () => new Date(mono).toISOString(),
    monotonic: () => mono,
    async sleep(ms) {
      rests.push(ms);
      if (told.length === looks.length) stopping.abort();
    },
  };
  const alerts = {
    isOn: true,
    forgetOthers: async () => undefined,
    deliver: async () => undefined,
    sayStopped: async () => undefined,
    async look({ isQueueStuck }: { isQueueStuck?: boolean }) {
      mono += present()?.tookMs ?? 0;
      told.push(isQueueStuck);
    },
  };
  const log = createLogger({ to: { write: () => undefined } });
  const keepTelling = createAlerting(
    { alerts, clock, log },
    {
      stopping: stopping.signal,
      watched: (work) => work,
      isQueueStuck: async () => present()?.stuck ?? false,
    },
  );
  await keepTelling();
  return { rests, told };
}

it('looks every minute, less often where a look takes long, and at least every two minutes', async () => {
  const { rests } = await keep([{ tookMs: 10 }, { tookMs: 1600 }, { tookMs: 5000 }]);
  expect(rests).toEqual([60_000, 80_000, 120_000]);
});

it('calls a queue stuck at the second look in a row', async () => {
  const { told } = await keep([true, false, true, true, true, false].map((stuck) => ({ tookMs: 0, stuck })));
  expect(told).toEqual([false, false, false, true, true, false]);
});
