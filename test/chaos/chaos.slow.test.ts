import { expect, it } from 'vitest';
import { runChaos } from './chaos.ts';

it('P3: processes killed and stopped at random moments pay nobody twice and lose nothing (npm run chaos)', async () => {
  const said: string[] = [];
  const figures = await runChaos({
    payouts: 600,
    perSecond: 80,
    seconds: 15,
    seed: 1,
    say: (line) => void said.push(line),
  });
  const story = [...figures.map(({ what, value }) => `${what}: ${value}`), ...said].join('\n');
  expect(
    figures.filter(({ wrong }) => wrong),
    story,
  ).toEqual([]);
  const value = (what: string): number => Number(figures.find((figure) => figure.what === what)?.value);
  expect(value('kills (SIGKILL)'), story).toBeGreaterThan(3);
}, 180_000);
