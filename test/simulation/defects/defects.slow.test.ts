import { afterAll, describe, expect, it } from 'vitest';
import { answerDefects } from './answers.ts';
import { look, misfits } from './apply.ts';
import { brakeDefects } from './brakes.ts';
import { evidenceDefects } from './evidence.ts';
import { meetingDefects } from './meetings.ts';
import { sendingDefects } from './sending.ts';
import { weaknessDefects } from './weaknesses.ts';
import { wentBackDefects } from './went-back.ts';

const defects = [
  ...sendingDefects,
  ...answerDefects,
  ...evidenceDefects,
  ...wentBackDefects,
  ...brakeDefects,
  ...weaknessDefects,
  ...meetingDefects,
];
const limit = { seeds: 1_000, seconds: 240 };
const atOnce = createTurns(2);
const told: string[] = [];

describe('the oracle can see', () => {
  afterAll(() => process.stdout.write(`${told.join('\n')}\n`));

  it.each(defects)('there is still a place to put the defect: $name', (defect) => {
    expect(misfits(defect), 'no longer held exactly once').toEqual([]);
  });

  it.concurrent.each(defects)(
    'a product that $name',
    async (defect) => {
      const { invariant, seed, seeds, seconds } = await atOnce(() => look(defect, limit));
      told.push(`${seconds.toFixed(1)} s, ${seeds} seeds: ${defect.name}: ${invariant} (seed ${seed})`);
      expect(invariant, `nothing was seen in ${seeds} seeds`).not.toBeNull();
      expect(invariant).not.toMatch(/^does not run/);
    },
    900_000,
  );
});

/** Lets so many work at once; the others wait for their turn. */
function createTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
