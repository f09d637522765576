import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { endWorker } from '../../../src/core/runtime/workers.sql.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { halt, liftHalt } from '../../../src/sending/halts.sql.ts';
import { configWith, startWeb } from './setting.ts';

const here = new URL('alerting-process.ts', import.meta.url).pathname;
const now = (): string => new Date().toISOString();

/** A process that looks and sends without a pause, on the ledger of this home. */
function startTeller(place: { home: string; worker: string; env: Record<string, string> }): ChildProcess {
  const child = spawn(process.execPath, [here, place.home, place.worker], {
    env: { PATH: process.env.PATH ?? '', ...place.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function makeRace() {
  const web = await startWeb();
  const env = { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9', COUNTERFOIL_ALERTS_WEBHOOK_URL: web.url };
  const config = await configWith(env);
  const ledger = await openLedger(config.ledgerPlace, { now, mode: 'test' });
  onTestFinished(() => ledger.close());
  const start = (worker: string): ChildProcess => startTeller({ home: config.home, worker, env });
  return { web, ledger, start };
}

async function until(test: () => boolean): Promise<void> {
  while (!test()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('four processes tell each of thirty halts and their ends once', async () => {
  const { web, ledger, start } = await makeRace();
  const tellers = ['w-1', 'w-2', 'w-3', 'w-4'].map(start);
  for (let turn = 1; turn <= 30; turn++) {
    await ledger.write((trx) => halt(trx, { kind: 'person' }, now()));
    await until(() => web.posts.length >= 2 * turn - 1);
    await ledger.write((trx) => liftHalt(trx, { at: now() }));
    await until(() => web.posts.length >= 2 * turn);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const teller of tellers) teller.kill('SIGKILL');
  expect(web.posts).toHaveLength(60);
  const words = web.posts.map(({ text }) => /ALERT|CLEARED/.exec(text)?.[0]);
  expect(words).toEqual(Array.from({ length: 30 }, () => ['ALERT', 'CLEARED']).flat());
}, 120_000);

it('a process that is killed after it sent, and before it noted that, leaves one message twice', async () => {
  const { web, ledger, start } = await makeRace();
  web.answers.push('silence');
  const first = start('w-1');
  await ledger.write((trx) => halt(trx, { kind: 'person' }, now()));
  await until(() => web.posts.length === 1);
  first.kill('SIGKILL');
  await once(first, 'exit');
  start('w-2');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(web.posts).toHaveLength(1);
  // A take-over finds it dead, as serve does every two seconds.
  await ledger.write((trx) => endWorker(trx, 'w-1', now()));
  await until(() => web.posts.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(web.posts.map(({ body }) => body)).toEqual([web.posts[0]?.body, web.posts[0]?.body]);
}, 60_000);
