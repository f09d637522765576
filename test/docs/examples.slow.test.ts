import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allBlocks, isAsShown, runBlocks } from '../../config/docs/examples.ts';

describe('the commands in README and docs', () => {
  it('print what the pages show', { timeout: 900_000 }, async () => {
    const ran = await runBlocks();
    const differing = ran.flatMap(({ block, printed }) =>
      block.steps.flatMap((step, index) => {
        const now = printed[index] ?? [];
        const place = `${block.page}:${block.line}: ${step.command}`;
        return isAsShown(step, now) ? [] : [{ place, shown: step.output, printed: now }];
      }),
    );
    const lines = ran.flatMap(({ printed }) => printed.flat());
    expect(lines.filter((line) => line.startsWith('npm warn'))).toEqual([]);
    expect(differing, 'npm run docs writes what they print now').toEqual([]);
  });

  it('are left out only where they say why', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const isRunElsewhere = (reason: string): boolean =>
      (/^(prove:\S+) runs it$/.exec(reason)?.[1] ?? '') in scripts;
    const reasons = allBlocks().flatMap(({ run, page }) =>
      run.kind === 'not_run' && !isRunElsewhere(run.reason) ? [`${page}: ${run.reason}`] : [],
    );
    console.log(`${reasons.length} blocks of commands not run:\n  ${reasons.join('\n  ')}`);
    expect(reasons.length).toBeLessThanOrEqual(6);
  });
});
