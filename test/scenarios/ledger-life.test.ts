import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reconcileLockOf } from '../../src/core/runtime/worker-lock.ts';
import { holdLock } from '../../src/core/storage/file-lock.ts';
import { batchOf, references } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it('P25: back up, send, restore: nothing is sent twice, and a listing brings everything back', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(5)), '--no-wait'], 0);
  const file = join(home.dir, 'backup.db');
  expect(await home.json(['backup', file], 0)).toMatchObject({ file, payouts: 5, batches: 1 });
  expect((await home.run(['backup', file])).code, 'never over a file').toBe(2);
  await home.json(['submit'], 0);
  await home.sandbox.settleAll();
  expect((await home.run(['restore', file, '--adopt'])).code, 'asks, and nobody is there').toBe(2);
  const restored = await home.json(['restore', file, '--yes'], 4);
  expect(existsSync(restored.moved_aside)).toBe(true);
  const before = await home.json(['status'], 4);
  expect(before.halted.cause).toMatch(/restore --adopt/);
  expect((await home.json(['submit'], 4)).halted.cause).toMatch(/restore --adopt/);
  const halted = (await home.run(['submit'])).out;
  expect(halted).toMatch(/this is a backup made at \d+ \w+ \d\d:\d\d: it/);
  expect(await home.json(['restore', '--adopt', '--yes'], 4)).toMatchObject({ adopted: true, unknown: 5 });
  expect((await home.json(['status'], 4)).halted.cause).toMatch(/reconcile --full/);
  const told = await home.run(['status']);
  expect(told.out).toMatch(/HALTED.*\n.*reconcile --full/);
  expect(told.out, 'which would lift nothing').not.toContain('release --mode');
  await home.run(['submit']);
  expect(references(5).map((r) => home.sandbox.requests.bodies(r))).toEqual(Array(5).fill(1));
  const run = await home.run(['reconcile', '--full', '--json']);
  expect([0, 4], run.err).toContain(run.code);
  const after = await home.run(['status', '--json']);
  expect(JSON.parse(after.out)).toMatchObject({ payouts: { success: 5 }, halted: null });
  const more = await home.run(['submit', home.put('more.csv', batchOf(1, 11))]);
  expect(more.code, more.out + more.err).toBe(0);
  expect(home.sandbox.requests.bodies('PAY-0011'), 'the listing let new batches go').toBe(1);
  expect(await home.json(['verify'], 0)).toMatchObject({ ok: true });
});

it('P25: a copy put back with cp stops all sending, and serve, reconcile and submit say why', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  const ledger = join(home.dir, 'data', 'ledger.db');
  copyFileSync(ledger, `${ledger}.old`);
  await home.json(['submit', home.put('more.csv', batchOf(2, 11)), '--no-wait'], 0);
  for (const suffix of ['-wal', '-shm']) rmSync(ledger + suffix, { force: true });
  copyFileSync(`${ledger}.old`, ledger);
  const done = await home.run(['submit']);
  expect(done.code).toBe(4);
  expect(done.out).toMatch(/went back in time.*restore --adopt/);
  expect(home.sandbox.requests.posts).toBe(0);
});

it('a restore and a migrate beside another process are 11, and a process beside a restore is too', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1)), '--no-wait'], 0);
  const file = join(home.dir, 'backup.db');
  const daemon = home.begin(['serve']);
  await daemon.line(/serving mode test/);
  await home.json(['backup', file], 0);
  const reconciling = holdLock(reconcileLockOf(join(home.dir, 'data/ledger.db')));
  const second = await home.run(['restore', file, '--yes']);
  expect([second.code, second.err]).toEqual([11, expect.stringContaining('counterfoil serve runs')]);
  reconciling?.release();
  expect((await home.run(['migrate', '--to', 'sqlite:next.db'])).code).toBe(11);
  daemon.signal('SIGTERM');
  await daemon.done;
  const { shutGate } = await import('../../src/custody/custody-gate.ts');
  const gate = await shutGate(join(home.dir, 'data', 'ledger.db'));
  const others = ['status', 'submit', 'serve', 'reconcile'].map(async (command) => {
    const done = await home.run([command]);
    expect([done.code, done.err], command).toEqual([11, expect.stringContaining('restores or moves')]);
  });
  await Promise.all(others);
  await gate?.release();
});

it('P26: a moved ledger goes on in its new place; the old one can be read and refuses the rest', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(3)), '--no-wait'], 0);
  expect((await home.run(['migrate', '--to', 'mysql://x/y'])).code).toBe(2);
  expect((await home.run(['migrate'])).code).toBe(2);
  const moved = await home.json(['migrate', '--to', 'sqlite:next.db'], 0);
  expect(moved.to).toBe(join(home.dir, 'data', 'next.db'));
  for (const args of [
    ['submit'],
    ['reconcile'],
    ['serve'],
    ['hold', '--mode'],
    ['restore', '--adopt', '--yes'],
  ]) {
    const done = await home.run(args);
    expect([done.code, done.err], args.join(' ')).toEqual([1, expect.stringContaining('sqlite:next.db')]);
  }
  expect((await home.json(['status'], 4)).payouts).toEqual({ ready: 3 });
  await home.json(['show', 'PAY-0001'], 0);
  await home.json(['verify'], 0);
  await home.json(['migrate', '--to', 'sqlite:next.db'], 0);
  const next = { COUNTERFOIL_LEDGER_URL: 'sqlite:next.db' };
  await home.json(['submit'], 0, next);
  expect(references(3).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1]);
  await home.json(['verify'], 0, next);
});

it('P27: verify says which payout was tampered with, and ends with 1', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  const { default: Database } = await import('better-sqlite3');
  const raw = new Database(join(home.dir, 'data', 'ledger.db'));
  raw.exec(`update payouts set state = 'success' where reference = 'PAY-0002'`);
  raw.close();
  const done = await home.run(['verify']);
  expect(done.code).toBe(1);
  expect(done.out).toMatch(
    /projection +FAILED\n +PAY-0002: state is "success", by its history it is "ready"/,
  );
  expect(done.err).toMatch(/not proven \(projection, totals\)/);
});

it('P26: a restore of the sealed file that a ledger moved from is refused, and the good ledger goes on', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  const done = await home.run(['migrate', '--to', 'sqlite:next.db']);
  expect([done.code, done.err]).toEqual([
    0,
    expect.stringMatching(/^moving .* for ever: .* never sends again/),
  ]);
  const next = { COUNTERFOIL_LEDGER_URL: 'sqlite:next.db' };
  await home.json(['submit'], 0, next);
  const wrong = await home.run(['restore', 'data/ledger.db', '--adopt', '--yes'], next);
  expect(wrong.code).toBe(1);
  expect(wrong.err).toMatch(
    /data\/ledger.db was sealed when its ledger moved to .*next.db, .*; nothing was changed/,
  );
  expect(home.names('data').filter((name) => /before-restore|incoming/.test(name))).toEqual([]);
  const more = await home.run(['submit', home.put('more.csv', batchOf(1, 11))], next);
  expect(more.code, more.err).toBe(0);
  expect(home.sandbox.requests.bodies('PAY-0011')).toBe(1);
});

it('P26: a sealed file that lies where its ledger moved to names the way out, and a backup takes its place', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  await home.json(['migrate', '--to', 'sqlite:next.db'], 0);
  const next = { COUNTERFOIL_LEDGER_URL: 'sqlite:next.db' };
  const backup = join(home.dir, 'backup.db');
  await home.json(['backup', backup], 0, next);
  const place = join(home.dir, 'data', 'next.db');
  for (const suffix of ['-wal', '-shm']) rmSync(place + suffix, { force: true });
  copyFileSync(join(home.dir, 'data', 'ledger.db'), place);
  for (const args of [['submit'], ['restore', '--adopt', '--yes']]) {
    const stuck = await home.run(args, next);
    expect([stuck.code, stuck.err], args.join(' ')).toEqual([
      1,
      expect.stringMatching(/next.db is a sealed copy .* counterfoil restore FILE --adopt puts a backup/),
    ]);
  }
  expect(await home.json(['restore', backup, '--adopt', '--yes'], 4, next)).toMatchObject({ unknown: 2 });
  expect((await home.json(['status'], 4, next)).halted.cause).toContain('reconcile --full');
});

it('P26: no copy takes the place that a ledger was moved from, unless a person says that the moved one is lost', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  const backup = join(home.dir, 'backup.db');
  await home.json(['backup', backup], 0);
  const place = join(home.dir, 'data', 'ledger.db');
  copyFileSync(place, `${place}.old`);
  await home.json(['migrate', '--to', 'sqlite:next.db'], 0);
  for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true });
  copyFileSync(`${place}.old`, place);
  const halted = (await home.json(['submit'], 4)).halted.cause;
  expect(halted).toMatch(/was moved permanently to another place: set ledger.url to that place/);
  for (const args of [['--adopt'], [backup, '--adopt']]) {
    const wrong = await home.run(['restore', ...args, '--yes']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('set ledger.url to that place')]);
  }
  rmSync(`${place}.mark`);
  expect(await home.json(['restore', '--adopt', '--yes'], 4)).toMatchObject({ unknown: 2 });
});

it('an adoption that fails after the swap says where the ledger from before lies', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1)), '--no-wait'], 0);
  const backup = join(home.dir, 'backup.db');
  await home.json(['backup', backup], 0);
  // A folder in the way of the mark: the adoption's last step fails.
  home.put('data/ledger.db.mark.new/in-the-way', '');
  const done = await home.run(['restore', backup, '--adopt', '--yes']);
  expect(done.code).toBe(1);
  expect(done.err).toMatch(/the ledger from before is .*ledger.db.before-restore-/);
});

it('P27: a restored backup that settled payouts since is proven, and a backup that was tampered with is not', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(3))], 0);
  const backup = join(home.dir, 'backup.db');
  await home.json(['backup', backup], 0);
  await home.sandbox.settleAll();
  await home.json(['restore', backup, '--yes'], 4);
  await home.run(['reconcile']);
  expect((await home.json(['status'], 4)).payouts).toEqual({ success: 3 });
  const proven = await home.run(['verify']);
  expect(proven.code, proven.out).toBe(0);

  const { default: Database } = await import('better-sqlite3');
  const raw = new Database(backup);
  raw.exec(`update meta set value = 'forged' where key like 'backup_digest:%'`);
  raw.close();
  await home.json(['restore', backup, '--yes'], 4);
  const forged = await home.run(['verify']);
  expect([forged.code, forged.out]).toEqual([1, expect.stringMatching(/backup +FAILED/)]);
});

it('a data folder that is not there is refused and not made; one that init made has nothing taken in yet', async () => {
  const home = await makeHome();
  const typo = join(home.dir, 'dtaa');
  for (const args of [
    ['status'],
    ['show', 'PAY-0001'],
    ['discrepancies'],
    ['report'],
    ['verify'],
    ['backup', 'backup.db'],
    ['hold', '--mode'],
    ['release', '--mode'],
    ['cancel', 'PAY-0001', '--yes'],
    ['settle', 'PAY-0001', '--as', 'paid', '--note', 'n', '--yes'],
    ['retry', 'PAY-0001', '--yes', '--evidence', 'x'],
    ['resend', 'PAY-0001'],
  ]) {
    const done = await home.run([...args, '--data', typo]);
    expect([done.code, done.err], args.join(' ')).toEqual([
      2,
      expect.stringMatching(/no ledger in .*dtaa .*: check --data/),
    ]);
  }
  expect(existsSync(typo)).toBe(false);
  const fresh = await home.run(['status']);
  expect([fresh.code, fresh.out]).toEqual([0, expect.stringContaining('nothing was taken in yet')]);
});

it('everything beside the ledger can be read by its owner only', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  const data = join(home.dir, 'data');
  const beside = readdirSync(data).filter((name) => name.startsWith('ledger.db'));
  expect(beside).toContain('ledger.db.intake-lock');
  const open = beside.filter((name) => (statSync(join(data, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});
