import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../config/docs/blocks.ts';
import { allBlocks, isAsShown } from '../../config/docs/examples.ts';

const page = (info: string, body: string): string => `text\n\n\`\`\`${info}\n${body}\`\`\`\n`;

describe('the blocks of commands', () => {
  it('are found with their lines', () => {
    const [block] = blocksOf('a.md', page('console', '$ one\nout\n\nmore\n$ two\n'));
    expect(block).toMatchObject({
      line: 4,
      run: { kind: 'here' },
      steps: [
        { command: 'one', output: ['out', '', 'more'] },
        { command: 'two', output: [] },
      ],
    });
  });

  it('refuse a language and a mark that no test knows', () => {
    expect(() => blocksOf('a.md', page('sh', 'rm x\n'))).toThrow('a.md:4: no test knows a block of sh');
    expect(() => blocksOf('a.md', page('console (later)', '$ x\n'))).toThrow('mark (later)');
    expect(() => blocksOf('a.md', page('console', 'x\n'))).toThrow('no line begins');
  });

  it('stand in the README and in docs, each known to the test that runs them', () => {
    const blocks = allBlocks();
    expect(blocks.filter(({ run }) => run.kind === 'here').length).toBeGreaterThan(8);
    expect(blocks.filter(({ run }) => run.kind === 'background').length).toBeGreaterThan(1);
  });
});

describe('what a command printed', () => {
  it.each([
    ['run  20261121T020000Z', 'run  20261123T034313Z', true],
    ['22 Nov 2026, 16:00', '3 Dec 2026, 04:07', true],
    ['november-20261121-3f9a1c: sent', 'november-20261203-3f9a1c: sent', true],
    ['november-20261121-3f9a1c: sent', 'november-20261121-3f9a1d: sent', false],
    ['NGN 285,000.00', 'NGN 285,000.01', false],
    ['12 payouts', '13 payouts', false],
    ['reconciled', 'exceptions', false],
  ])('%s and %s are the same but for times: %s', (shown, printed, same) => {
    expect(isAsShown({ command: 'x', output: [shown] }, [printed])).toBe(same);
  });

  it('may be shortened', () => {
    const step = { command: 'x', output: ['first', '…', 'last'] };
    expect(isAsShown(step, ['first', 'a', 'b', 'last'])).toBe(true);
    expect(isAsShown(step, ['first', 'a', 'b', 'end'])).toBe(false);
    expect(isAsShown(step, ['first', 'last'])).toBe(false);
  });
});
