import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../../src/core/settings/settings.ts';
import { runInit } from '../../../../src/faces/terminal/setup/init.ts';
import { start } from '../../../support/cli.ts';
import { begin } from '../../../support/in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('init', () => {
  it('writes a configuration that loads, and never overwrites', async () => {
    const dir = join(temporaryFolder(), 'new/place');
    const first = await runInit(dir);
    expect(first.kept).toEqual([]);
    expect(loadConfig({ cwd: dir, env: {} }).kind).toBe('ok');
    writeFileSync(join(dir, 'config/counterfoil.yaml'), 'mine');
    const second = await runInit(dir);
    expect(second).toEqual({ written: [], kept: first.written });
    expect(readFileSync(join(dir, 'config/counterfoil.yaml'), 'utf8')).toBe('mine');
  });

  it('names only what must be decided, and leaves every other key to its default', async () => {
    const dir = temporaryFolder();
    await runInit(dir);
    const text = readFileSync(join(dir, 'config/counterfoil.yaml'), 'utf8');
    expect(text.split('\n').length).toBeLessThanOrEqual(30);
    const loaded = loadConfig({ cwd: dir, env: {} });
    const origins = loaded.kind === 'ok' ? Object.entries(loaded.config.origins) : [];
    const decided = origins.flatMap(([key, origin]) => (origin.startsWith('file') ? [key] : []));
    expect(decided).toEqual([
      'mode',
      'service.base_url',
      'submission.approval',
      'submission.daily_limit',
      'submission.payout_limit',
      'receiver.enabled',
      'alerts.webhook_url',
    ]);
  });

  // In a process of its own: nothing ends a system call that Node repeats for ever.
  it.runIf(existsSync('/proc/self'))('ends where no folder can be made', async () => {
    const done = await start(['init', '/proc/counterfoil/payroll'], { cwd: temporaryFolder() }).done;
    expect(done).toMatchObject({ code: 1, out: '' });
    expect(done.err).toMatch(/^counterfoil: .*ENOENT.*\/proc\/counterfoil'\n$/);
  });
});

it('init --sandbox makes a home in which sandbox, submit and reconcile work at once', async () => {
  const dir = join(temporaryFolder(), 'trial');
  const made = await begin(['init', '--sandbox', dir], { cwd: temporaryFolder() }).done;
  expect(made.code, made.err).toBe(0);
  expect(statSync(join(dir, '.env')).mode & 0o777).toBe(0o600);
  const config = loadConfig({ cwd: dir, env: {} });
  expect(config).toMatchObject({ config: { service: { baseUrl: 'http://127.0.0.1:8900' } } });
  const help = await begin(['sandbox', '--help'], { cwd: dir }).done;
  expect(help.out).toMatch(/--port .*"8900"/);
  // Another port here, since tests run side by side.
  const sandbox = begin(['sandbox', '--json', '--port', '0'], { cwd: dir });
  onTestFinished(() => sandbox.signal('SIGTERM'));
  const env = { COUNTERFOIL_SERVICE_BASE_URL: JSON.parse(await sandbox.line(/^\{/)).url };
  const sent = await start(['submit', 'samples/november-salaries.csv', '--json'], { cwd: dir, env }).done;
  expect(sent.code, sent.err).toBe(0);
  const run = await begin(['reconcile', '--json'], { cwd: dir, env }).done;
  expect(JSON.parse(run.out).matched, run.err).toBe(12);
  const live = await begin(['init', '--sandbox', '--mode', 'live', join(dir, 'x')], { cwd: dir }).done;
  expect(live.code).toBe(2);
});
