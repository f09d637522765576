import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeHome } from '../support/cli.ts';
import { inProcess } from '../support/in-process.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { setting } from './setting.ts';

const folder = fileURLToPath(new URL('../fixtures/batches', import.meta.url));
type Verdict = {
  file: string;
  exit: number;
  rows?: number;
  totals?: Record<string, string>;
  delimiter?: string;
  /** Patterns; absent: not looked at. */
  warnings?: string[];
  /** In any order; problem and fix are patterns. */
  problems?: { row: number; column: string; problem: string; fix: string }[];
};
const verdicts: Verdict[] = JSON.parse(readFileSync(join(folder, 'verdicts.json'), 'utf8'));

it('has a verdict for every batch of the corpus', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  expect(verdicts.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
});

for (const verdict of verdicts) {
  const { file, exit } = verdict;
  it(`${exit === 0 ? 'takes' : 'refuses'} ${basename(file, '.csv').replaceAll('-', ' ')}`, async () => {
    const s = await setting();
    const checked = await s.intake.check(join(folder, file));
    expect({ ok: checked.ok, problems: checked.problems }).toMatchObject(
      exit === 0 ? { ok: true, problems: [] } : { ok: false },
    );
    const problems = (verdict.problems ?? []).map(({ row, column, problem, fix }) =>
      expect.objectContaining({
        row,
        column,
        problem: expect.stringMatching(new RegExp(problem, 's')),
        fix: expect.stringMatching(new RegExp(fix, 's')),
      }),
    );
    expect(checked.problems).toHaveLength(problems.length);
    expect(checked.problems).toEqual(expect.arrayContaining(problems));
    const warnings = verdict.warnings?.map((pattern) => expect.stringMatching(pattern));
    if (warnings) expect(checked.warnings).toEqual(warnings);
    if (verdict.delimiter) expect(checked.delimiter).toBe(verdict.delimiter);
    const dropped = s.path('inbox', file);
    copyFileSync(join(folder, file), dropped);
    const taken = await s.intake.takeIn(dropped, { origin: 'inbox' });
    if (exit === 0) {
      const { rows, totals } = verdict;
      expect({ rows: checked.rows, totals: checked.totals }).toEqual({ rows, totals });
      expect(taken).toMatchObject({ kind: 'taken', rows, totals });
      return;
    }
    expect(taken).toMatchObject({ kind: 'refused', problems: checked.problems });
    expect(await s.ledger.db.selectFrom('payouts').selectAll().execute()).toEqual([]);
  });
}

// On PostgreSQL the databases of the tests have their tables before the first command.
it.skipIf(onPostgres)('exits 0 for all that is taken and 3 for each that is refused', async () => {
  const home = inProcess(await makeHome());
  const paths = (exit: number): string[] =>
    verdicts.filter((one) => one.exit === exit).map(({ file }) => join(folder, file));
  await home.json(['check', ...paths(0)], 0);
  const { files } = await home.json(['check', ...paths(0), ...paths(3)], 3);
  expect(files.filter((one: { ok: boolean }) => !one.ok)).toHaveLength(paths(3).length);
});
