import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { csv, flat, type Home, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
/** An account of every Unix, and of none of the people who run tests. */
const daemonUid = 1;
const isRoot = process.getuid?.() === 0;

/** A checkout in a folder of root alone cannot be run by another account. */
const canRun =
  isRoot &&
  spawnSync(process.execPath, ['-e', 'require("node:fs").accessSync(process.argv[1])', bin], {
    ...{ cwd: '/', uid: daemonUid, gid: daemonUid },
  }).status === 0;

/** Only root can give files to another account. */
const asRoot = describe.skipIf(!isRoot);

function everyFile(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [folder, ...below.map((name) => join(folder, name))];
}

function give(home: Home, uid: number): void {
  for (const path of everyFile(home.dir)) chownSync(path, uid, uid);
}

function ownersOf(home: Home): Set<number> {
  return new Set(everyFile(home.dir).map((path) => lstatSync(path).uid));
}

/** Every way to use a home's ledger: reading, writing, checking, copying and replacing it. */
const commands = [
  ['status'],
  ['status', '--metrics'],
  ['payouts'],
  ['show', 'PAY-0001'],
  ['submit'],
  ['check', 'pay.csv'],
  ['reconcile'],
  ['report'],
  ['doctor', '--offline'],
  ['verify'],
  ['backup', 'copy.db'],
  ['restore', 'copy.db'],
  ['archive', '--before', '2020-01-01'],
  ['upgrade'],
  ['serve'],
];

asRoot('a command of root in a home of another account', () => {
  it('stops with 2, names sudo -u, and makes no file in the home', async () => {
    const home = await makeHome();
    await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
    give(home, daemonUid);
    for (const args of commands) {
      const { code, err } = await home.run(args);
      expect([code, flat(err)], args.join(' ')).toEqual([2, expect.stringContaining('sudo -u daemon')]);
    }
    expect(ownersOf(home)).toEqual(new Set([daemonUid]));
  });

  it('stops also before the first ledger, and names an account without a name by its number', async () => {
    const home = await makeHome();
    give(home, 4_004_004);
    const { code, err } = await home.run(['submit', home.put('pay.csv', csv(row(1)))]);
    expect([code, flat(err)]).toEqual([2, expect.stringContaining("sudo -u '#4004004'")]);
    expect(home.names('data/reports')).toEqual([]);
  });

  it.skipIf(onPostgres)(
    'goes by the ledger: root’s own one in a folder of another account is root’s',
    async () => {
      const home = await makeHome();
      await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
      chownSync(join(home.dir, 'data'), daemonUid, daemonUid);
      await home.json(['status'], 0);
    },
  );

  it.skipIf(onPostgres || !canRun)(
    'that was allowed once leaves a file that the daemon’s account is told about by name',
    async () => {
      const home = await makeHome();
      await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
      give(home, daemonUid);
      const path = join(home.dir, 'data/ledger.db-shm');
      writeFileSync(path, '', { mode: 0o600 });
      const { status, stderr } = spawnSync(process.execPath, [bin, 'verify'], {
        cwd: home.dir,
        env: home.env,
        uid: daemonUid,
        gid: daemonUid,
        encoding: 'utf8',
      });
      expect([status, flat(stderr)]).toEqual([
        1,
        expect.stringMatching(/cannot use \S+ledger\.db-shm \(permission denied, EACCES\).*\(chown, chmod\)/),
      ]);
    },
  );

  it('does not stop what uses no ledger', async () => {
    const home = await makeHome();
    give(home, daemonUid);
    for (const args of [['--help'], ['completion', 'bash'], ['config', 'show'], ['complete', 'batches', 'a']])
      expect(await home.run(args), args.join(' ')).toMatchObject({ code: 0 });
    expect(ownersOf(home)).toEqual(new Set([daemonUid]));
  });
});
