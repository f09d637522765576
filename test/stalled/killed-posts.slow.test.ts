import { expect, it } from 'vitest';
import { runKilledPosts } from './killed-posts.ts';

it('P34: 40 posts that break at any byte or lose their answer are each one whole batch, paid once, over kills of serve', async () => {
  const figures = await runKilledPosts({
    count: 20,
    parallel: 8,
    serveKills: 2,
    seed: 20261126,
    patienceMs: 20_000,
    say: () => {},
  });
  expect(figures).toMatchObject({ cut: 20, lost: 20, serveKills: 2, half: 0, twice: 0, missing: 0 });
}, 180_000);
