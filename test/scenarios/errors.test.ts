import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { batchOf, type Done, flat, type Home, references, start, sum, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { begin } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** One clear line besides what names mode and service; never a stack. */
function clear(done: Done): void {
  expect(done.err).not.toMatch(/\n\s+at /);
  expect(done.err.split('\n').filter((line) => line.startsWith('counterfoil: '))).toHaveLength(1);
}

async function staysReady(home: Home, rows: number): Promise<void> {
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ ready: rows });
  expect(home.sandbox.book.transfers()).toEqual([]);
}

it('prints nothing that moves the cursor or turns the text, whoever wrote it', async () => {
  const home = await makeHome();
  const done = await home.start(['show', 'PAY\u001b[2J\r\u202e-1']).done;
  expect(done).toMatchObject({ code: 2, err: expect.stringContaining('PAY [2J  -1') });
});

it('a wrong key is one clear line and exit 1; nothing is sent, payouts stay ready, and the right key sends them', async () => {
  const home = await makeHome();
  const done = await home.run(['submit', home.put('pay.csv', batchOf(4))], {
    COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_wrong',
    COUNTERFOIL_TEST_ENCRYPTION_KEY: 'enc_test_wrong',
  });
  expect(done.code).toBe(1);
  clear(done);
  expect(done.err).not.toContain('sk_test_wrong');
  expect(home.sandbox.requests.posts).toBe(0);
  await staysReady(home, 4);
  await home.json(['submit'], 0);
  expect(references(4).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1, 1]);
});

it('an unreachable service is one clear line and exit 1; payouts stay ready', async () => {
  const home = await makeHome();
  const done = await home.run(['submit', home.put('pay.csv', batchOf(4))], {
    COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9',
  });
  expect(done.code).toBe(1);
  clear(done);
  await staysReady(home, 4);
});

it('a missing configuration is exit 2 and names init', async () => {
  for (const args of [['status'], ['submit'], ['check', 'a.csv'], ['serve'], ['reconcile']]) {
    const run = args[0] === 'status' ? start : begin;
    const done = await run(args, { cwd: temporaryFolder() }).done;
    expect(done.code, args.join(' ')).toBe(2);
    expect(done.err).toContain('init');
    clear(done);
  }
});

it('an unknown configuration key is exit 2 and names the nearest known one', async () => {
  const home = await makeHome();
  home.put('config/counterfoil.yaml', `service:\n  base_url: ${home.sandbox.url}\n  concurency: 3\n`);
  const done = await home.run(['status']);
  expect(done.code).toBe(2);
  expect(done.err).toContain('concurency');
  expect(done.err).toContain('did you mean concurrency');
});

it('a missing key is exit 2 and names the variable; what needs no key works', async () => {
  const home = await makeHome();
  const none = { COUNTERFOIL_TEST_SECRET_KEY: undefined, COUNTERFOIL_TEST_ENCRYPTION_KEY: undefined };
  const file = home.put('pay.csv', batchOf(2));
  for (const args of [['submit', file], ['reconcile'], ['serve']]) {
    const done = await home.run(args, none);
    expect(done.code, args.join(' ')).toBe(2);
    expect(done.err).toContain('COUNTERFOIL_TEST_SECRET_KEY');
  }
  await home.json(['check', file], 0, none);
  expect(sum((await home.json(['status'], 0, none)).payouts)).toBe(0);
});

it('an unknown command, an unknown option and a missing argument are exit 2', async () => {
  const home = await makeHome();
  for (const args of [
    ['sumbit'],
    ['status', '--nope'],
    ['check'],
    ['show'],
    [],
    ['submit', '--rows', 'many', 'a.csv'],
  ]) {
    const done = await home.run(args);
    expect(done.code, args.join(' ')).toBe(2);
    expect(done.err.trim(), args.join(' ')).not.toBe('');
  }
  expect(await home.run(['--help'])).toMatchObject({ code: 0 });
  const help = await home.run(['submit', '--help']);
  expect(help.code).toBe(0);
  expect(help.out).toContain('Example');
  expect(await home.run(['help', 'submit']), 'as other tools say it').toMatchObject({
    code: 0,
    out: help.out,
  });
  expect((await home.run(['help'])).out).toBe((await home.run(['--help'])).out);
  expect((await home.json(['help', 'sumbit'], 2)).error).toContain('no command "sumbit"');
});

it('live mode sends nothing without --live, nor without --yes off a terminal; serve wants COUNTERFOIL_LIVE', async () => {
  const home = await makeHome();
  const live = { COUNTERFOIL_MODE: 'live', COUNTERFOIL_LIVE_SECRET_KEY: home.sandbox.keys.test.secretKey };
  const file = home.put('pay.csv', batchOf(1));
  for (const args of [['submit', file], ['submit', file, '--live'], ['serve']]) {
    const done = await home.run(args, live);
    expect(done.code, args.join(' ')).toBe(2);
    clear(done);
  }
  expect(home.sandbox.requests.posts).toBe(0);
});

it('a preflight against a service of the other mode sends nothing (P24)', async () => {
  const home = await makeHome();
  home.sandbox.book.plant({ reference: 'LIVE-1', domain: 'live' });
  const done = await home.run(['submit', home.put('pay.csv', batchOf(1))]);
  expect(done.code).toBe(1);
  clear(done);
  await staysReadyButListed(home);
});

async function staysReadyButListed(home: Home): Promise<void> {
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ ready: 1 });
  expect(home.sandbox.requests.posts).toBe(0);
}

it('an unknown reference, batch or report name is a sentence and exit 2', async () => {
  const home = await makeHome();
  await home.json(['submit'], 0);
  for (const args of [
    ['show', 'NOBODY'],
    ['hold', 'nothing'],
    ['release', 'nothing'],
    ['report', 'nothing'],
  ]) {
    const done = await home.run(args);
    expect(done.code, args.join(' ')).toBe(2);
    expect(done.err).toMatch(/NOBODY|nothing/);
  }
});

it('a full disk throws SQLITE_FULL; opened again, nothing is lost and the file is taken once', async () => {
  const home = await makeHome();
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const { config } = loaded;
  const log = createLogger({ quiet: true });
  const file = home.put('big.csv', batchOf(3000));
  const small = await openApp('local', { config, log });
  const pages = small.ledger;
  expect(pages).toBeDefined();
  await small.intake.takeFiles([home.put('small.csv', batchOf(2, 9001))], { origin: 'named' });
  await small.close();
  const full = await openApp('local', { config, log, maxPageCount: 120 });
  await expect(full.intake.takeFiles([file], { origin: 'named' })).rejects.toMatchObject({
    code: 'SQLITE_FULL',
  });
  await full.close();
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ ready: 2 });
  const taken = await home.json(['submit', file, '--no-wait'], 0);
  expect(taken.batches).toEqual([expect.objectContaining({ rows: 3000, payouts: { ready: 3000 } })]);
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ ready: 3002 });
});

it('a second reconcile, and a second serve, end with 11 while the first runs', async () => {
  const home = await makeHome({ latencyMs: 400 });
  const first = home.start(['reconcile']);
  await until(
    5000,
    () => home.names('data'),
    (names) => names.includes('ledger.db.reconcile-lock'),
  );
  const second = await home.run(['reconcile']);
  expect(second.code).toBe(11);
  clear(second);
  expect((await first.done).code).toBe(0);
  const daemon = home.begin(['serve']);
  await daemon.line(/serving mode test/);
  const other = await home.run(['serve']);
  expect(other.code).toBe(11);
  clear(other);
  expect(
    await home.run(['submit', home.put('pay.csv', batchOf(1))]),
    'submit runs beside serve',
  ).toMatchObject({ code: 0 });
});

it('SIGINT during submit is 130; run again it completes, with each body sent once', async () => {
  const home = await makeHome({ latencyMs: 150 }, { COUNTERFOIL_SERVICE_CONCURRENCY: '4' });
  const first = home.start(['submit', home.put('pay.csv', batchOf(30))]);
  await until(
    8000,
    () => home.sandbox.requests.posts,
    (posts) => posts >= 5,
  );
  first.signal('SIGINT');
  expect((await first.done).code).toBe(130);
  const after = (await home.json(['status'], 0)).payouts;
  expect(after.ready).toBeGreaterThan(0);
  expect(after.unknown ?? 0, 'what was in flight is waited for').toBe(0);
  await home.json(['submit'], 0);
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ pending: 30 });
  expect(references(30).map((r) => home.sandbox.requests.bodies(r))).toEqual(Array(30).fill(1));
});

it('kill -9 during submit leaves at most concurrency unknown, and nothing is ever sent twice (P1, P4)', async () => {
  const home = await makeHome(
    { latencyMs: 150 },
    {
      COUNTERFOIL_SERVICE_CONCURRENCY: '4',
      COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
    },
  );
  const first = home.start(['submit', home.put('pay.csv', batchOf(30))]);
  await until(
    8000,
    () => home.sandbox.requests.posts,
    (posts) => posts >= 6,
  );
  first.signal('SIGKILL');
  expect((await first.done).code).toBe(null);
  const again = await home.run(['submit']);
  expect([0, 4], again.err).toContain(again.code);
  const { payouts } = await home.json(['status'], again.code ?? 0);
  expect(payouts.unknown ?? 0).toBeLessThanOrEqual(4);
  expect((payouts.ready ?? 0) + (payouts.sending ?? 0)).toBe(0);
  await home.sandbox.settleAll();
  const counts = references(30).map((r) => home.sandbox.requests.bodies(r));
  expect(counts.filter((n) => n > 1)).toEqual([]);
  expect(
    counts.filter((n) => n === 0).length,
    'an intent of the dead process is not sent by itself',
  ).toBeLessThanOrEqual(4);
  const run = await home.run(['reconcile', '--json']);
  expect([0, 4], run.err).toContain(run.code);
  const settled = (await home.json(['status'], run.code ?? 0)).payouts;
  expect(settled.success).toBe(counts.filter((n) => n === 1).length);
});

it('a ledger file that is none is one sentence, exit 1, and is left as it was', async () => {
  const home = await makeHome();
  home.put(join('data', 'ledger.db'), 'this is not a ledger, it is a letter\n'.repeat(200));
  const done = await home.run(['status']);
  expect(done.code).toBe(1);
  clear(done);
  expect(done.err).toContain('damaged or not a ledger');
  expect(home.read('data/ledger.db')).toContain('it is a letter');
});

it('P22: a mistyped ledger.url begins no empty ledger beside batches that were taken in', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(1));
  await home.json(['submit', file, '--no-wait'], 0);
  const mistyped = { COUNTERFOIL_LEDGER_URL: 'sqlite:leger.db' };
  for (const command of [['submit', file], ['status'], ['reconcile']]) {
    const done = await home.run(command, mistyped);
    expect(done.code, done.err).toBe(2);
    expect(done.err).toMatch(/leger\.db.*ledger\.url/s);
  }
  expect(home.names('data')).not.toContain('leger.db');
  expect(home.sandbox.requests.posts).toBe(0);
});

it('help and the version are text for people and one object for --json, with 0', async () => {
  const cwd = temporaryFolder();
  const help = await start(['submit', '--help'], { cwd }).done;
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toMatch(/^Usage: counterfoil submit .*--dry-run.*Example:\n {2}counterfoil submit /s);
  const told = await begin(['submit', '--help', '--json'], { cwd }).done;
  expect(JSON.parse(told.out)).toEqual({ schema: 1, help: help.out.trimEnd() });
  const version = (await begin(['--version'], { cwd }).done).out.trimEnd();
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  const asked = await start(['--version', '--json'], { cwd }).done;
  expect(JSON.parse(asked.out)).toEqual({ schema: 1, version });
});

it('as an npm script, file arguments are relative to where the user stands, not to the checkout', async () => {
  const cwd = temporaryFolder();
  const stands = temporaryFolder();
  const env = { npm_lifecycle_event: 'counterfoil', INIT_CWD: stands };
  const done = await start(['check', 'pay.csv'], { cwd, env }).done;
  expect(flat(done.err)).toContain(`no configuration at ${join(stands, 'config/counterfoil.yaml')}`);
  const other = await start(['check', 'pay.csv'], { cwd, env: { ...env, npm_lifecycle_event: 'test' } }).done;
  expect(flat(other.err)).toContain(`no configuration at ${join(cwd, 'config/counterfoil.yaml')}`);
});
