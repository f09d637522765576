import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { blocksOf } from '../../config/docs/blocks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string): string => readFileSync(`${root}${name}`, 'utf8');
const commands = blocksOf('docs/going-live.md', read('docs/going-live.md')).flatMap(({ steps }) =>
  steps.map(({ command }) => command),
);

it('every command of going live parses, and every file of the package that it names exists', () => {
  for (const command of commands) {
    const { status, stderr } = spawnSync('bash', ['-n', '-c', command], { encoding: 'utf8' });
    expect([command, stderr, status]).toEqual([command, '', 0]);
    for (const [, name = ''] of command.matchAll(/\/opt\/counterfoil\/([\w./-]+\w)/g))
      expect([name, existsSync(`${root}${name}`) || name.endsWith('deploy/counterfoil')]).toEqual([
        name,
        true,
      ]);
  }
});

it('the unit of several homes says what the unit of one home says', () => {
  const settings = (name: string): string[] =>
    read(`config/deploy/${name}`)
      .split('\n')
      .filter((line) => /^#?[A-Z]\w+=/.test(line) && !line.startsWith('Description='));
  const one = settings('counterfoil.service').map((line) =>
    line
      .replaceAll('/srv/payroll', '/srv/%i')
      .replaceAll('/etc/counterfoil/', '/etc/counterfoil/%i/')
      .replace(/^User=counterfoil$/, 'User=counterfoil-%i'),
  );
  expect(settings('counterfoil@.service')).toEqual(one);
});
