import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planOf } from '../../../../src/faces/terminal/completion/plan.ts';
import { entryName } from '../../../../src/faces/terminal/entries/entry.ts';
import { entryGroups } from '../../../../src/faces/terminal/entries/groups.ts';
import { batchOf, type Home } from '../../../support/cli.ts';
import { makeHome } from '../../../support/decided.ts';
import { inShell } from './shells.ts';

/** What bash offers after these words; the last one is being typed. */
async function offers(home: Home, ...words: string[]): Promise<string[]> {
  const { out } = await home.run(['completion', 'bash']);
  const script = home.put('completion.bash', out);
  const typed = words.map((word) => `'${word}'`).join(' ');
  return inShell(
    home,
    'bash',
    `source "${script}"
    COMP_WORDS=(counterfoil ${typed}); COMP_CWORD=${words.length}
    compopt() { :; }
    _counterfoil; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

it('bash completes commands, options, values, batches, references and files', async () => {
  const home = await makeHome();
  const { batches } = await home.json(['submit', '--no-wait', home.put('november.csv', batchOf(3))], 0);
  const [{ batch }] = batches;
  expect(await offers(home, 'pay')).toEqual(['payouts', 'payees']);
  expect(await offers(home, '')).toEqual([...entryGroups.flatMap(([, all]) => all.map(entryName)), 'help']);
  expect(await offers(home, 'submit', '--d')).toEqual(['--dry-run', '--data']);
  expect(await offers(home, 'payouts', '--state', 're')).toEqual(['ready', 'refused', 'returned']);
  expect(await offers(home, 'payouts', '--batch', 'nov')).toEqual([batch]);
  expect(await offers(home, 'show', 'PAY-')).toEqual(['PAY-0001', 'PAY-0002', 'PAY-0003']);
  expect(await offers(home, 'show', 'PAY-0001', '--json', 'x')).toEqual([]);
  expect(await offers(home, 'cancel', 'n')).toEqual([batch]);
  expect(await offers(home, 'check', 'nov')).toEqual(['november.csv']);
  expect(await offers(home, 'settle', '--as', 'n')).toEqual(['not-paid']);
  expect(await offers(home, '--data', join(home.dir, 'elsewhere'), 'hold', '')).toEqual([]);
});

it('asking for names makes no ledger and no noise', async () => {
  const home = await makeHome();
  expect(await home.run(['complete', 'batches'])).toEqual({ code: 0, out: '', err: '' });
  expect(await home.run(['complete', 'secrets'])).toEqual({ code: 0, out: '', err: '' });
  expect(existsSync(join(home.dir, 'data/ledger.db'))).toBe(false);
  const broken = { COUNTERFOIL_SERVICE_CONCURRENCY: 'many' };
  expect(await home.run(['complete', 'batches'], broken)).toEqual({ code: 0, out: '', err: '' });
});

it('offers something for every argument that names a batch, a payout or a file', () => {
  const { verbs } = planOf(entryGroups.flatMap(([, all]) => all));
  const none = verbs.filter(({ argument }) => argument.kind === 'none').map(({ name }) => name);
  expect(none).toEqual([
    ...[
      'demo',
      'sandbox',
      'status',
      'batches',
      'payouts',
      'payees',
      'reconcile',
      'ack',
      'resolve',
      'close-period',
    ],
    ...['serve', 'doctor', 'verify', 'archive', 'upgrade', 'migrate'],
  ]);
});

it('refuses another shell', async () => {
  const home = await makeHome();
  const { code, err } = await home.run(['completion', 'csh']);
  expect([code, err]).toEqual([2, 'counterfoil: completion: expected bash, zsh or fish, got "csh"\n']);
});
