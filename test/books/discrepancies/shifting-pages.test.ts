import { expect, it } from 'vitest';
import { shiftingDay } from '../../shifting/shifting-day.ts';
import { repeats } from '../../support/repeats.ts';

/** `npm run shifting` runs a thousand. The quick ones end in each of the ways below. */
const seeds = repeats() ? [1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 25, 29] : [1, 11, 15, 25];

it('P28: whatever the list does while it is read, nothing is missed, nothing is false, and the short cut is no worse', async () => {
  const complete: (boolean | 'window')[] = [];
  for (const seed of seeds) {
    const result = await shiftingDay(seed, 200);
    expect(result.wrongs, `seed ${seed}: npm run shifting -- --seeds 1 --rows 200 --from ${seed}`).toEqual(
      [],
    );
    complete.push(...result.complete);
  }
  // A share without any of these would prove nothing about them.
  expect(new Set(complete)).toEqual(new Set([true, false, 'window']));
}, 120_000);
