import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as intake from '../../jobs/intake.ts';
import * as results from '../../jobs/results.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { createResults } from '../../src/daemon/renew-results.ts';
import { batchOf, type Home, makeHome } from '../support/cli.ts';

async function opened(): Promise<{ home: Home; app: App }> {
  const home = await makeHome();
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const app = await openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    kind: 'serve',
  });
  onTestFinished(() => app.close());
  return { home, app };
}

/** An app whose time is told, and whose results take `takesMs` to write whenever one is asked for them. */
async function slow(takesMs: number, failing = false) {
  const { app } = await opened();
  app.log.level = 'silent';
  const begun: number[] = [];
  let now = 0;
  const pass = (ms: number): void => {
    now += ms;
  };
  const clock = {
    ...app.clock,
    monotonic: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => pass(signal?.aborted ? 0 : ms),
  };
  const reporting = {
    ...app.reporting,
    writeDueBatchResults: async () => {
      begun.push(now);
      if (failing) throw new Error('EACCES');
      now += takesMs;
      return ['results.csv'];
    },
  };
  const stop = new AbortController();
  const kept = createResults(
    { ...app, clock, reporting },
    { stopping: stop.signal, watched: (work) => work },
  );
  return { ...kept, begun, stop, pass };
}

it('the results job writes what changed and the index, and then nothing until something changes', async () => {
  const { home, app } = await opened();
  expect(await results.run(app)).toEqual({ files: [] });
  expect(existsSync(join(home.dir, 'data/reports/index.html'))).toBe(false);
  home.put('data/inbox/pay.csv', batchOf(1));
  await intake.run(app);
  expect((await results.run(app)).files).toHaveLength(2);
  expect(existsSync(join(home.dir, 'data/reports/index.html'))).toBe(true);
  expect(await results.run(app)).toEqual({ files: [] });
});

it('results that are quick to write follow what changed within a second', async () => {
  const { keep, begun } = await slow(20);
  for (let n = 0; n < 3; n++) await keep();
  expect(begun).toEqual([1000, 2020, 3040]);
});

it('results that take six seconds to write are written once a minute, however many webhooks come', async () => {
  const { keep, begun, pass } = await slow(6000);
  for (let n = 0; n < 60; n++) await keep();
  expect(begun.slice(0, 3)).toEqual([1000, 61_000, 121_000]);
  expect(begun).toHaveLength(60);
  pass(600_000);
  await keep();
  expect((begun[60] ?? 0) - (begun[59] ?? 0)).toBe(607_000);
});

it('a daemon that ends writes results that are quick, and leaves those that are not to the next start', async () => {
  const quick = await slow(20);
  await quick.keep();
  quick.stop.abort();
  await quick.keep();
  await quick.last();
  expect(quick.begun).toHaveLength(2);
  const long = await slow(6000);
  await long.keep();
  await long.last();
  expect(long.begun).toHaveLength(1);
});

it('results that cannot be written are tried again a minute later, and nothing is thrown', async () => {
  const { keep, begun } = await slow(0, true);
  await keep();
  await keep();
  expect(begun).toEqual([1000, 61_000]);
});
