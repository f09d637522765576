import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exactDependencies } from '../../config/pack/exact-dependencies.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// On a disk: the installed packages take 290 MB. The user of the test must reach it, so not in this run's own folder.
const folder = mkdtempSync('/tmp/counterfoil-installed-');
const prefix = join(folder, 'prefix');
afterAll(() => rmSync(folder, { recursive: true }));

/** An ordinary user: the one who runs this test, or `nobody` where that is root. */
const user =
  process.getuid?.() === 0
    ? Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }))
    : process.getuid?.();

/** This process's environment, with how npm reaches its registry, and without what concerns tests and this checkout. */
const inherited = Object.entries(process.env).filter(
  ([name]) => !/^(COUNTERFOIL_|NODE_(?!EXTRA_CA)|VITEST|VITE_)/.test(name),
);

/** Runs a command as a user would who has npm and the Node of this machine, and nothing of this checkout. */
function run(command: string, ...args: string[]): { code: number | null; out: string; err: string } {
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const done = spawnSync(command, args, {
    cwd: join(folder, 'home'),
    env: {
      ...Object.fromEntries(inherited),
      PATH: path.join(delimiter),
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      npm_config_cache: join(folder, 'home/.npm'),
      npm_config_prefix: prefix,
    },
    timeout: 400_000,
    encoding: 'utf8',
    ...(user !== undefined && { uid: user, gid: user }),
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

beforeAll(() => {
  chmodSync(folder, 0o755);
  for (const name of ['home', 'tmp', 'prefix']) {
    mkdirSync(join(folder, name));
    if (user !== undefined) chownSync(join(folder, name), user, user);
  }
});

describe('the tarball of npm run pack', () => {
  it('installs a command that runs the demo, as an ordinary user in an empty folder', {
    timeout: 600_000,
  }, () => {
    const pack = join(root, 'config/pack/run.ts');
    const tarball = execFileSync(process.execPath, [pack, folder], { encoding: 'utf8' }).trim();
    chmodSync(tarball, 0o644);
    const installed = run('npm', 'install', '--global', tarball);
    expect(installed.code, installed.err).toBe(0);
    const demo = run(join(prefix, 'bin/counterfoil'), 'demo');
    expect(demo.code, demo.err).toBe(0);
    expect(demo.out).toContain('report.html');
    expect(run(join(prefix, 'bin/counterfoil'), 'init', 'payroll')).toMatchObject({ code: 0, err: '' });
  });

  it('brings the runtime and every package at the versions of the lockfile', () => {
    const there = join(prefix, 'lib/node_modules/counterfoil/node_modules');
    const lock: unknown = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const { dependencies } = exactDependencies(lock);
    const wrong = Object.entries(dependencies).filter(
      ([name, version]) =>
        JSON.parse(readFileSync(join(there, name, 'package.json'), 'utf8')).version !== version,
    );
    expect(Object.keys(dependencies).length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
    const runtime = join(there, `node-${process.platform}-${process.arch}/bin/node`);
    expect(execFileSync(runtime, ['--version'], { encoding: 'utf8' })).toBe(`${process.version}\n`);
  });

  it('has types beside each file, and the pages and samples that its README names', () => {
    const there = join(prefix, 'lib/node_modules/counterfoil');
    for (const name of ['src/cli.js', 'src/cli.d.ts', 'jobs/submit.js', 'docs/commands.md', 'data/samples'])
      expect(run('test', '-e', join(there, name)), name).toMatchObject({ code: 0 });
  });

  it('exports the client with its types, and nothing of the inside', { timeout: 120_000 }, () => {
    const home = join(folder, 'home');
    const program = `
      import { ApiError, createClient } from 'counterfoil/client';
      const client = createClient({ url: 'http://127.0.0.1:1', token: 'none', retries: 0 });
      const error = await client.getBatch({ batch: 'pay' }).then(({ rows }) => rows.toFixed(), (reason) => reason);
      console.log(error instanceof ApiError && error.status === 0);
    `;
    const node = join(
      prefix,
      'lib/node_modules/counterfoil/node_modules',
      `node-${process.platform}-${process.arch}`,
      'bin/node',
    );
    mkdirSync(join(home, 'node_modules'));
    symlinkSync(join(prefix, 'lib/node_modules/counterfoil'), join(home, 'node_modules/counterfoil'));
    writeFileSync(join(home, 'program.mjs'), program);
    expect(run(node, 'program.mjs')).toMatchObject({ code: 0, out: 'true\n' });
    writeFileSync(join(home, 'inside.mjs'), "await import('counterfoil/src/cli.js');");
    expect(run(node, 'inside.mjs').err).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
    const typed = (text: string): { code: number | null; out: string } => {
      writeFileSync(join(home, 'program.mts'), text);
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2024,dom'];
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const done = spawnSync(process.execPath, [compiler, ...options, 'program.mts'], {
        cwd: home,
        encoding: 'utf8',
      });
      return { code: done.status, out: done.stdout };
    };
    expect(typed(program)).toEqual({ code: 0, out: '' });
    expect(typed(program.replace('rows.toFixed', 'rows.trim')).out).toContain(
      "'trim' does not exist on type 'number'",
    );
  });
});
