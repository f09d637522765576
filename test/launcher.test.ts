import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders: string[] = [];
const started: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const child of started.splice(0)) {
    try {
      // Each child leads a group of its own, so a worker that outlived its launcher goes too.
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Ended by itself.
    }
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder with the real bin.js and heap.js beside the fixture's cli.ts; asking for Node 99 makes any Node a launcher. */
function install(options: { node: string; packages: boolean; lockfile?: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-launcher-'));
  folders.push(folder);
  mkdirSync(join(folder, 'src'));
  for (const name of ['bin.js', 'heap.js']) copyFileSync(join(root, 'src', name), join(folder, 'src', name));
  copyFileSync(join(root, 'test/fixtures/launcher/cli.ts'), join(folder, 'src/cli.ts'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', engines: { node: options.node } }),
  );
  if (options.lockfile) writeFileSync(join(folder, 'package-lock.json'), '{}');
  if (options.packages) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/bin.js');
}

const launcher = { node: '>=99.0', packages: true };
const direct = { node: '>=24.15', packages: true };

type Run = {
  child: ChildProcessWithoutNullStreams;
  pid: number;
  seen: () => string;
  until: (text: string) => Promise<void>;
  end: () => Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
};

function start(bin: string, ...args: string[]): Run {
  const child = spawn(process.execPath, [bin, ...args], { detached: true });
  started.push(child);
  if (child.pid === undefined) throw new Error('the launcher did not start');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // `close` comes only when every holder of the pipes has ended, the worker included.
  const closed = once(child, 'close');
  return {
    child,
    pid: child.pid,
    seen: () => stdout,
    async until(text) {
      while (!stdout.includes(text))
        await Promise.race([once(child.stdout, 'data'), closed.then(() => fail())]);
      function fail(): never {
        throw new Error(`ended before "${text}": ${stdout}${stderr}`);
      }
    },
    async end() {
      await closed;
      return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
    },
  };
}

const got = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('got '));
const workerPid = (text: string): number => Number(/ready (\d+)/.exec(text)?.[1]);

describe('the launcher', () => {
  it('passes arguments and the exit code through, and nothing keeps the worker alive', async () => {
    const ended = await start(install(launcher), 'exit', '4', 'a b', '--flag').end();
    expect(ended).toEqual({ code: 4, signal: null, stdout: '["a b","--flag"]\n', stderr: '' });
  });

  it('reports a worker that died of a signal as 128 + its number', async () => {
    expect((await start(install(launcher), 'die', 'SIGKILL').end()).code).toBe(137);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('counts %s to the whole group once', async (signal) => {
    const run = start(install(launcher), 'listen');
    await run.until('ready');
    expect(workerPid(run.seen())).not.toBe(run.pid);
    process.kill(-run.pid, signal);
    const ended = await run.end();
    expect(got(ended.stdout)).toEqual([`got ${signal}`]);
    expect(ended.code).toBe(0);
  });

  it('forwards a signal that only the launcher received', async () => {
    const run = start(install(launcher), 'listen');
    await run.until('ready');
    process.kill(run.pid, 'SIGTERM');
    expect(got((await run.end()).stdout)).toEqual(['got SIGTERM']);
  });

  it('does not swallow a second signal of another name', async () => {
    const run = start(install(launcher), 'listen');
    await run.until('ready');
    process.kill(-run.pid, 'SIGINT');
    await run.until('got SIGINT');
    process.kill(-run.pid, 'SIGTERM');
    expect(got((await run.end()).stdout)).toEqual(['got SIGINT', 'got SIGTERM']);
  });

  it('stops the worker when the launcher alone is killed', async () => {
    const run = start(install(launcher), 'listen');
    await run.until('ready');
    run.child.kill('SIGKILL');
    // That this ends at all shows that the worker, who shares the pipes, did.
    expect(got((await run.end()).stdout)).toEqual(['got SIGTERM']);
  });

  it.each([
    ['a checkout', true, /run "npm ci" in /],
    ['an installed package', false, /install Counterfoil again/],
  ])('says in one line what is missing where %s lacks the pinned runtime', async (_, lockfile, fix) => {
    const ended = await start(install({ node: '>=99.0', packages: false, lockfile }), 'exit', '0').end();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^counterfoil: needs Node >=99\.0, [^\n]*\n$/);
    expect(ended.stderr).toMatch(fix);
  });
});

describe('a Node that is new enough', () => {
  it('is the runtime itself', async () => {
    const run = start(install(direct), 'listen');
    await run.until('ready');
    expect(workerPid(run.seen())).toBe(run.pid);
    process.kill(run.pid, 'SIGTERM');
    expect((await run.end()).code).toBe(0);
  });

  it('reads a package.json that is a link, whatever the folder above says of its own scripts', async () => {
    const outer = dirname(dirname(install(direct)));
    const inner = join(outer, 'inner');
    mkdirSync(inner);
    renameSync(join(outer, 'src'), join(inner, 'src'));
    renameSync(join(outer, 'package.json'), join(inner, 'manifest.json'));
    symlinkSync('manifest.json', join(inner, 'package.json'));
    writeFileSync(join(outer, 'package.json'), JSON.stringify({ type: 'commonjs' }));
    const ended = await start(join(inner, 'src/bin.js'), 'exit', '0').end();
    expect(ended).toEqual({ code: 0, signal: null, stdout: '[]\n', stderr: '' });
  });

  it('counts a signal once that npm repeats', async () => {
    const run = start(install(direct), 'listen');
    await run.until('ready');
    process.kill(run.pid, 'SIGINT');
    await run.until('got SIGINT');
    process.kill(run.pid, 'SIGINT');
    expect(got((await run.end()).stdout)).toEqual(['got SIGINT']);
  });
});
