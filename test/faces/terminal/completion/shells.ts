import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Home } from '../../../support/cli.ts';

const bin = fileURLToPath(new URL('../../../../src/bin.js', import.meta.url));

/** Runs a script of a real shell in the home, where `counterfoil` is on the path; returns what it printed, by line. */
export function inShell(home: Home, shell: string, script: string): string[] {
  const folder = join(home.dir, 'bin');
  mkdirSync(folder, { recursive: true });
  const command = join(folder, 'counterfoil');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
  chmodSync(command, 0o755);
  const noStartUp = { bash: ['--norc', '--noprofile'], zsh: ['-f'], fish: ['--no-config'] }[shell] ?? [];
  const done = spawnSync(shell, [...noStartUp, '-c', script], {
    cwd: home.dir,
    env: { ...home.env, PATH: `${folder}:${process.env.PATH}`, HOME: home.dir, TERM: 'xterm' },
    encoding: 'utf8',
  });
  return `${done.stdout}${done.stderr}`.split('\n').filter((line) => line !== '');
}

/** True where this shell is installed. */
export function hasShell(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}
