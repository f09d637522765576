import { expect, it } from 'vitest';
import { yes } from './approving-server.ts';
import { makeScene } from './setting.ts';

it('waits ten seconds for an answer, and takes none that comes later', async () => {
  const { look, question, states } = await makeScene(async (asked) => {
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    return yes(asked);
  });
  await look();
  expect(await question()).toMatchObject({ problem: 'timeout', tries: 1n });
  expect(await states()).toEqual(['held', 'held']);
}, 120_000);
