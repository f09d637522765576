import { expect } from 'vitest';

/** Whether a file `name.slow.test.ts` runs, which runs whole what `name.test.ts` runs a share of. */
export const repeats = (): boolean => expect.getState().testPath?.endsWith('.slow.test.ts') ?? false;

/** One of `every`, beginning with number `from`; in a slow file all of them. */
export function shareOf<T>(all: readonly T[], every: number, from = 0): T[] {
  return all.filter((_, i) => repeats() || i % every === from % every);
}
