import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnv } from '../../../src/core/settings/dotenv.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'counterfoil-dotenv-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe('.env', () => {
  it('names the lines that give no variable, by number alone: they may hold a secret', () => {
    const lines = ['# keys', 'A=1', 'COUNTERFOIL_SUBMISSION_APPROVAL always', '', 'sk_test_abc'];
    writeFileSync(join(home, '.env'), lines.join('\n'), { mode: 0o600 });
    writeFileSync(join(home, 'c.yaml'), 'service: { base_url: "https://pay.example.com" }\n');
    expect(loadConfig({ cwd: home, env: {}, configFlag: 'c.yaml' })).toEqual({
      kind: 'problem',
      problems: [`${join(home, '.env')}, line 3, 5: expected NAME=value, or a comment after #`],
    });
  });

  it.each([
    ['A: 1\nB=2', [1]],
    ['=1\nB=2', [1]],
    ['MY KEY=1\nB=2', [1]],
    ['B=2\n"x\ny"', [2, 3]],
    ['A=\n"x"\nB=2', [2]],
    ['B=2\r\nA\r\n', [2]],
    ['export\tA=1\nB=2', [1]],
    ['B=2\nA="x\nC=always\nD="y"', [2, 3, 4]],
    ['A="x\nD=""\nB=2', [1, 2]],
  ])('finds what gives no variable in %j', (text, unreadable) => {
    expect(readEnv(text).unreadable).toEqual(unreadable);
    expect(readEnv(text).values).toMatchObject({ B: '2' });
  });

  it.each([
    ['A="x\ny\nz"\nB=2', { A: 'x\ny\nz', B: '2' }],
    ["export A = 'x' # why\n\n  B=2\n", { A: 'x', B: '2' }],
    ['A="x\nB=2', { A: '"x', B: '2' }],
    ['A="x\ny" # "why"\nB="x"y', { A: 'x\ny', B: 'x' }],
    ['A=\r\nB=2\r\n', { A: '', B: '2' }],
    ['A= \t\nB=2', { A: '', B: '2' }],
    ['A = \r\n\r\nB=2', { A: '', B: '2' }],
    ['A="x\nC= \ny"\nB=2', { A: 'x\nC= \ny', B: '2' }],
    ['A=1\rB=2', { A: '1', B: '2' }],
    ['# why\n # A="\nB=2\nC="3"', { B: '2', C: '3' }],
    ['\uFEFFA=1 # "\nB=2', { A: '1', B: '2' }],
    ['', {}],
  ])('reads all of %j', (text, values) => {
    expect(readEnv(text)).toEqual({ values, unreadable: [] });
  });
});
