import { expect, it } from 'vitest';
import { findProgram } from '../support/server-process.ts';
import { runQueueChaos } from './queue-chaos.ts';

const absent = findProgram('redis-server') === undefined;

it.skipIf(absent)(
  `P1: a Redis that is killed, emptied and frozen pays nobody twice and stops nothing (npm run prove:queue)${absent ? ' (skipped: no redis-server)' : ''}`,
  async () => {
    const said: string[] = [];
    const figures = await runQueueChaos({
      payouts: 150,
      perSecond: 20,
      outages: 4,
      outageSeconds: 5,
      seed: 3,
      daemons: 2,
      say: (line) => void said.push(line),
    });
    const story = [...(figures ?? []).map(({ what, value }) => `${what}: ${value}`), ...said].join('\n');
    expect(
      figures?.filter(({ wrong }) => wrong),
      story,
    ).toEqual([]);
  },
  240_000,
);
