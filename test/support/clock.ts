import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock as machineClock } from '../../src/core/runtime/clock.ts';

const hurry = new AsyncLocalStorage<true>();

/** Runs commands of this process whose waits of half a second and more last a twentieth: those between two tries. */
export const hurried = <T>(work: () => Promise<T>): Promise<T> => hurry.run(true, work);

/** In the tests' place of the real one, for the commands of this process. */
export function systemClock(): Clock {
  const clock = machineClock();
  if (!hurry.getStore()) return clock;
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms < 500 ? ms : ms / 20, signal) };
}
