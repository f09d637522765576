import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInit } from '../../src/commands/init.ts';
import { loadConfig } from '../../src/config.ts';
import { start } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

  // In a process of its own: nothing ends a system call that Node repeats for ever.
  it.runIf(existsSync('/proc/self'))('ends where no folder can be made', async () => {
    const done = await start(['init', '/proc/counterfoil/payroll'], { cwd: temporaryFolder() }).done;
    expect(done).toMatchObject({ code: 1, out: '' });
    expect(done.err).toMatch(/^counterfoil: .*ENOENT.*\/proc\/counterfoil'\n$/);
  });
});
