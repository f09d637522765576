import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf, type Home, makeHome as makeRealHome } from '../support/cli.ts';
import { inProcess } from '../support/in-process.ts';

const keys = { secretKey: 'sk_live_1', publicKey: 'pk_live_1', encryptionKey: 'enc_live_1' };
const live = {
  COUNTERFOIL_MODE: 'live',
  COUNTERFOIL_LIVE: 'yes',
  COUNTERFOIL_LIVE_SECRET_KEY: keys.secretKey,
  COUNTERFOIL_LIVE_ENCRYPTION_KEY: keys.encryptionKey,
};
const another = { code: 2, err: expect.stringMatching(/counterfoil init --mode live DIR/) };

const makeHome = async (settings: Record<string, string> = {}): Promise<Home> =>
  inProcess(await makeRealHome({ keys: { live: keys } }, settings));

it('P24: a live process refuses a home of test before it reads the inbox (a live batch left by a test daemon)', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('first.csv', batchOf(1))], 0);
  home.put('data/inbox/november.csv', batchOf(2, 10));
  const { posts } = home.sandbox.requests;
  for (const args of [
    ['submit', '--live', '--yes'],
    ['submit', '--no-wait'],
    ['submit', '--dry-run'],
    ['serve'],
    ['reconcile'],
    ['status'],
    ['show', 'PAY-0001'],
    ['hold', '--mode'],
    ['report'],
    ['verify'],
    ['backup', 'copy.db'],
    ['upgrade'],
  ])
    expect(await home.run(args, live), args.join(' ')).toMatchObject(another);
  expect(home.names('data/inbox')).toEqual(['collections', 'november.csv']);
  expect(home.sandbox.requests.posts).toBe(posts);
});

it('P24: another ledger does not give a home a second mode (one inbox, two ledgers)', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('first.csv', batchOf(1)), '--no-wait'], 0);
  home.put('data/inbox/november.csv', batchOf(2, 10));
  const elsewhere = { ...live, COUNTERFOIL_LEDGER_URL: 'sqlite:live.db' };
  expect(await home.run(['submit', '--live', '--yes'], elsewhere)).toMatchObject(another);
  expect(home.names('data/inbox')).toEqual(['collections', 'november.csv']);
  expect(home.names('data').filter((name) => name.startsWith('live'))).toEqual([]);
});

it('P24: of two modes that begin a home at the same time one refuses, also with two ledgers', async () => {
  for (const own of [{}, { COUNTERFOIL_LEDGER_URL: 'sqlite:live.db' }]) {
    const home = await makeRealHome({ keys: { live: keys } });
    const both = [
      home.start(['submit', '--no-wait']).done,
      home.start(['submit', '--no-wait'], { ...live, ...own }).done,
    ];
    const codes = (await Promise.all(both)).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set([0, 2]));
  }
});

it('P24: a home serves the webhooks of its own mode alone (a live webhook that a test daemon acknowledged)', async () => {
  const home = await makeHome({ ...live, COUNTERFOIL_MODE: 'test' });
  const daemon = home.begin(['serve', '--json']);
  const { receiver } = JSON.parse(await daemon.line(/"ready":true/));
  const answer = await fetch(`${receiver}/webhooks/live`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
  expect((await fetch(`${receiver}/webhooks/test`, { method: 'POST', body: '{}' })).status).toBe(401);
});

it('P24: a backup of one mode is not put into a home of the other', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('first.csv', batchOf(1)), '--no-wait'], 0);
  await home.json(['backup', 'copy.db'], 0);
  const other = await makeHome();
  const refused = await other.run(['restore', join(home.dir, 'copy.db'), '--adopt', '--yes'], live);
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/is of mode test/) });
  expect(existsSync(join(other.dir, 'data/ledger.db'))).toBe(false);
});

it('init --mode live makes a home for live, and leaves a home of test as it is', async () => {
  const home = await makeHome();
  await home.json(['init', '--mode', 'live', 'payroll'], 0);
  expect(home.read('payroll/config/counterfoil.yaml')).toMatch(/^mode: live\b/m);
  const shown = await home.run(['config', 'show', '--config', 'payroll/config/counterfoil.yaml']);
  expect(shown.out).toMatch(/^mode: live/m);
  const before = home.read('config/counterfoil.yaml');
  const refused = await home.run(['init', '--mode', 'live', '.']);
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/mode: test.*another folder/s) });
  expect(home.read('config/counterfoil.yaml')).toBe(before);
  expect(await home.run(['init', '--mode', 'life', 'other'])).toMatchObject({ code: 2 });
  expect(existsSync(join(home.dir, 'other'))).toBe(false);
});
