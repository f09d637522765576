import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { enterGate } from '../../src/custody/custody-gate.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, type Home, makeHome as makeRealHome } from '../support/cli.ts';
import { inProcess } from '../support/in-process.ts';
import { startNextVersion } from '../support/older-ledger.ts';
import { everySecond, serving } from '../support/serving.ts';

const makeHome = async (): Promise<Home> => inProcess(await makeRealHome());
const ledgerOf = (home: Home): string => join(home.dir, 'data/ledger.db');

function migrations(path: string): unknown[] {
  const raw = new Database(path, { readonly: true });
  const names = raw.prepare('select name from kysely_migration order by name').pluck().all();
  raw.close();
  return names;
}

/** As a newer version leaves it: with a migration that this one does not know. */
function upgradeByNewer(path: string): void {
  const raw = new Database(path);
  raw.exec(
    `insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01T00:00:00.000Z')`,
  );
  raw.close();
}

const olderHome = async (): Promise<Home> => {
  const home = await makeHome();
  const now = (): string => '2026-11-21T09:00:00.000Z';
  await (await openLedger(ledgerOf(home), { now, mode: 'test' })).close();
  startNextVersion();
  return home;
};

const readers = [
  ['status'],
  ['show', 'PAY-0001'],
  ['discrepancies'],
  ['verify'],
  ['check', 'pay.csv'],
  ['submit', '--dry-run', 'pay.csv'],
];

it('reading an older ledger changes nothing and names the command (a monitor migrated it under an older serve)', async () => {
  const home = await olderHome();
  home.put('pay.csv', batchOf(1));
  const before = readFileSync(ledgerOf(home));
  for (const args of [...readers, ['hold', '--mode'], ['report'], ['retry', 'PAY-0001']])
    expect(await home.run(args), args.join(' ')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/earlier version.*run counterfoil upgrade/),
    });
  const doctor = await home.run(['doctor', '--offline']);
  expect(doctor.out).toMatch(/FAILED ledger .*run counterfoil upgrade/);
  expect(await home.json(['upgrade', '--check'], 0)).toMatchObject({ due: true });
  expect(readFileSync(ledgerOf(home)).equals(before)).toBe(true);
});

it('upgrade makes a backup of the older ledger first, and says where; a second one has nothing to do', async () => {
  const home = await olderHome();
  const older = migrations(ledgerOf(home));
  const done = await home.run(['upgrade']);
  const [name = ''] = home.names('data').filter((one) => one.startsWith('ledger.db.before-upgrade-'));
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining(name) });
  expect(migrations(join(home.dir, 'data', name))).toEqual(older);
  expect(migrations(ledgerOf(home)).length).toBeGreaterThan(older.length);
  await home.json(['status'], 0);
  expect(await home.json(['upgrade'], 0)).toMatchObject({ upgraded: false, backup: null });
  expect(home.names('data').filter((one) => one.startsWith('ledger.db.before-upgrade-'))).toEqual([name]);
});

it('submit upgrades by itself, and not beside another process on the ledger', async () => {
  const home = await olderHome();
  const older = migrations(ledgerOf(home));
  const gate = await enterGate(ledgerOf(home));
  const others = ['submit', 'serve', 'reconcile', 'upgrade'].map(async (command) =>
    expect(await home.run([command]), command).toMatchObject({ code: 11 }),
  );
  await Promise.all(others);
  expect(migrations(ledgerOf(home))).toEqual(older);
  gate.release();
  const done = await home.run(['submit', home.put('pay.csv', batchOf(1))]);
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining('ledger.db.before-upgrade-') });
  expect(home.sandbox.requests.posts).toBe(1);
});

it('a running process sends nothing more once a newer version has upgraded its ledger', async () => {
  const schedules = { COUNTERFOIL_SCHEDULES_INTAKE: everySecond, COUNTERFOIL_SCHEDULES_SUBMIT: everySecond };
  const home = inProcess(await makeRealHome({}, schedules));
  const { daemon } = await serving(home);
  upgradeByNewer(ledgerOf(home));
  home.put('data/inbox/pay.csv', batchOf(3));
  expect(await daemon.done).toMatchObject({ code: 1, err: expect.stringMatching(/newer version/) });
  expect(home.names('data/archive')).toHaveLength(1);
  expect(home.sandbox.requests.posts).toBe(0);
});

it('an older program says that the ledger is newer, and can still make a backup of it', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  upgradeByNewer(ledgerOf(home));
  const { posts } = home.sandbox.requests;
  for (const args of [
    ...readers,
    ['submit'],
    ['serve'],
    ['reconcile'],
    ['upgrade'],
    ['upgrade', '--check'],
  ]) {
    const done = await home.run(args);
    expect(done, args.join(' ')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/newer version of Counterfoil/),
    });
    expect(done.err, args.join(' ')).not.toMatch(/corrupted/);
  }
  expect(home.sandbox.requests.posts).toBe(posts);
  const { file } = await home.json(['backup', 'copy.db'], 0);
  const copy = new Database(file, { readonly: true });
  expect(copy.prepare('select count(*) from payouts').pluck().get()).toBe(1);
  expect(copy.prepare(`select count(*) from meta where key = 'behind'`).pluck().get()).toBe(1);
  copy.close();
  expect(migrations(file)).toContain('9999-later');
});

it('reading commands make no ledger, and say that there is none', async () => {
  const home = await makeHome();
  home.put('pay.csv', batchOf(1));
  for (const [args, code] of [
    [['status'], 0],
    [['show', 'PAY-0001'], 2],
    [['verify'], 2],
    [['backup', 'copy.db'], 2],
    [['report'], 2],
    [['release', '--mode'], 2],
    [['upgrade', '--check'], 0],
    [['upgrade'], 0],
  ] as const)
    expect(await home.run([...args]), args.join(' ')).toMatchObject({
      code,
      err: expect.stringMatching(/no ledger yet|no ledger at/),
    });
  await home.run(['check', 'pay.csv']);
  await home.run(['doctor', '--offline']);
  await home.run(['discrepancies']);
  expect(readdirSync(join(home.dir, 'data')).filter((name) => name.startsWith('ledger'))).toEqual([]);
  expect(existsSync(join(home.dir, 'copy.db'))).toBe(false);
});

it('P25: a reading command sees that the ledger went back in time, and notes nothing', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1)), '--no-wait'], 0);
  const older = readFileSync(ledgerOf(home));
  await home.json(['submit', home.put('more.csv', batchOf(1, 5)), '--no-wait'], 0);
  writeFileSync(ledgerOf(home), older);
  const { halted } = await home.json(['status'], 4);
  expect(halted.cause).toMatch(/went back in time/);
  expect((await home.run(['doctor', '--offline'])).out).toMatch(/FAILED sending .*went back in time/);
  expect(readFileSync(ledgerOf(home)).equals(older)).toBe(true);
});

it('P24: a process of the other mode does not upgrade a ledger', async () => {
  const home = await olderHome();
  const before = migrations(ledgerOf(home));
  const done = await home.run(['upgrade'], { COUNTERFOIL_MODE: 'live' });
  expect(done).toMatchObject({ code: 2, err: expect.stringMatching(/is of mode test/) });
  expect(migrations(ledgerOf(home))).toEqual(before);
  expect(home.names('data').filter((name) => name.includes('before-upgrade'))).toEqual([]);
});
