import { describe, expect, it } from 'vitest';
import { batchOf, type Home } from '../../../support/cli.ts';
import { makeHome } from '../../../support/decided.ts';
import { hasShell, inShell } from './shells.ts';

/** What zsh's completion gives to its menu for a line; the menu itself then keeps what begins as typed. */
function zshOffers(home: Home, line: string): string[] {
  return inShell(
    home,
    'zsh',
    `compdef() { :; }; _describe() { print -rl -- \${\${(P)2}%%:*}; }
    source <(counterfoil completion zsh)
    words=(${line}); CURRENT=$#words
    _counterfoil`,
  );
}

const offered: [line: string, words: (batch: string) => string[]][] = [
  ['counterfoil payo', () => ['payouts']],
  ['counterfoil submit --dry', () => ['--dry-run']],
  ['counterfoil payouts --state unk', () => ['unknown']],
  ['counterfoil approve nov', (batch) => [batch]],
  ['counterfoil show PAY-', () => ['PAY-0001', 'PAY-0002']],
];

async function homeWithBatch(): Promise<{ home: Home; batch: string }> {
  const home = await makeHome();
  const { batches } = await home.json(['submit', '--no-wait', home.put('november.csv', batchOf(2))], 0);
  return { home, batch: batches[0].batch };
}

const without = (shell: string): string => (hasShell(shell) ? '' : ` (skipped: no ${shell})`);

describe.skipIf(!hasShell('fish'))(`fish${without('fish')}`, () => {
  it('completes commands, options, values, batches and references', async () => {
    const { home, batch } = await homeWithBatch();
    for (const [line, words] of offered) {
      const lines = inShell(home, 'fish', `counterfoil completion fish | source; complete -C '${line}'`);
      expect(lines.map((one) => one.split('\t')[0])).toEqual(words(batch));
    }
  });
});

describe.skipIf(!hasShell('zsh'))(`zsh${without('zsh')}`, () => {
  it('completes commands, options, values, batches and references', async () => {
    const { home, batch } = await homeWithBatch();
    for (const [line, words] of offered) {
      expect(zshOffers(home, line), line).toEqual(expect.arrayContaining(words(batch)));
    }
  });
});
