import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as intake from '../../jobs/intake.ts';
import * as submit from '../../jobs/submit.ts';
import { openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { batchOf, makeHome } from '../support/cli.ts';

it('P34: looks at the file of a batch again that waits behind another, before its first payout goes', async () => {
  const home = await makeHome({ settleMs: 600_000 }, { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '4' });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const app = await openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    kind: 'serve',
  });
  onTestFinished(() => app.close());
  home.put('data/inbox/first.csv', batchOf(12));
  await intake.run(app);
  home.put('data/inbox/second.csv', batchOf(2, 20));
  await intake.run(app);

  // A minute between two looks is a moment here.
  const { clock } = app;
  const sleep: typeof clock.sleep = (ms, signal) => clock.sleep(ms === 60_000 ? 20 : ms, signal);
  let grown = false;
  const result = await submit.run(
    { ...app, clock: { ...clock, sleep } },
    {
      onProgress() {
        if (grown) return;
        grown = true;
        const [name = ''] = home.names('data/archive').filter((one) => one.startsWith('second'));
        appendFileSync(join(home.dir, 'data/archive', name), 'late,row\n');
      },
    },
  );

  expect(result.counts.accepted).toBe(12);
  const held = await app.ledger.db.selectFrom('batches').select(['id', 'file_state']).orderBy('id').execute();
  expect(held.map(({ file_state }) => file_state)).toEqual(['begun', 'changed']);
});
