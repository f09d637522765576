import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as report from '../../jobs/report.ts';
import { openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { makeHome } from '../support/cli.ts';

it('the report job removes old reports by its clock, and writes the index also where it may not', async () => {
  const home = await makeHome();
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const log = createLogger({ quiet: true });
  const app = await openApp('whole', { config: loaded.config, log, kind: 'serve' });
  onTestFinished(() => app.close());
  const asked: number[] = [];
  const removeOldRuns = async (nowMs: number): Promise<string[]> => {
    asked.push(nowMs);
    throw new Error('EACCES');
  };
  const index = join(home.dir, 'data/reports/index.html');
  const clock = { ...app.clock, now: () => 1234 };
  const reporting = { ...app.reporting, removeOldRuns };
  await expect(report.run({ ...app, clock, reporting })).rejects.toThrow('EACCES');
  expect([asked, existsSync(index)]).toEqual([[1234], true]);
  rmSync(index);
  await report.run(app);
  expect(existsSync(index)).toBe(true);
});
