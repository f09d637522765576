import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createGroupCommit } from '../../../src/watching/webhooks/group-commit.ts';

it('takes what is added in the very turn in which the last group was answered', async () => {
  const committed: number[][] = [];
  const { add, drained } = createGroupCommit<number>({
    clock: systemClock(),
    maxGroup: 10,
    maxWaiting: 10,
    maxWaitingSize: 10,
    sizeOf: () => 1,
    commit: async (group) => void committed.push(group),
  });
  expect(await add(1)).toBe('durable');
  const second = add(2);
  await drained();
  expect(committed).toEqual([[1], [2]]);
  expect(await second).toBe('durable');
});
