import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { csv, type Home, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

/** A batch of one payout that today's limit keeps back, and its file in the archive. */
async function keptBack(): Promise<{ home: Home; batch: string; path: string }> {
  const home = await makeHome({ settleMs: 1 });
  const limit = { COUNTERFOIL_SUBMISSION_DAILY_LIMIT: '{"NGN": "1500.00"}' };
  await home.json(['submit', home.put('first.csv', csv(row(1)))], 0, limit);
  const told = await home.json(['submit', home.put('pay.csv', csv(row(2)))], 0, limit);
  const { batch } = told.batches.at(-1);
  return { home, batch, path: join(home.dir, 'data/archive', `${batch}--pay.csv`) };
}

it.runIf(process.platform === 'linux')(
  'P34: while the archived file is open for writing, submit and status name the batch, the reason and the way out',
  async () => {
    const { home, batch, path } = await keptBack();
    const file = openSync(path, 'a');
    try {
      const told = await home.json(['submit'], 4);
      expect(told.waits).toEqual([{ kind: 'file', batch, payouts: 1, why: 'open', path }]);
      const status = await home.run(['status']);
      expect(status.code).toBe(4);
      expect(status.out).toContain(
        `${batch}: 1 payout waits, since ${path} is open for writing by process ${process.pid}`,
      );
    } finally {
      closeSync(file);
    }
    expect(home.sandbox.requests.posts).toBe(1);
    await home.json(['submit'], 0);
    expect(home.sandbox.requests.posts).toBe(2);
  },
);
