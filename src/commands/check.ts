import { resolve } from 'node:path';
import { counted } from '../domain/counted.ts';
import { visible } from '../domain/hidden.ts';
import type { Checked } from '../intake/check-file.ts';
import { problemLines, retryLines } from './describe.ts';
import { foreseenJson, foreseenLines, isTakenWhole, takenText } from './foreseen.ts';
import type { Result } from './result.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** `check FILE…`: prints what `submit` would say about these files. Records, moves and sends nothing. */
export async function check(context: Context, args: string[]): Promise<Result> {
  return withApp(context, { level: 'local', use: 'tries' }, async (app) => {
    const files = [];
    for (const file of args) files.push(await app.intake.check(resolve(context.cwd, file)));
    const { quiet } = context.options;
    // --quiet hides only success: what is refused or left out is printed.
    const lines = files.flatMap((checked) => [
      ...(quiet && isTakenWhole(checked) ? [] : [verdictOf(checked), ...linesRead(checked)]),
      ...problemLines(checked.problems, checked.problemCount),
      ...(quiet ? [] : remarksOn(checked)),
    ]);
    const shown = files.map((checked) => {
      const { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems } = checked;
      const { duplicates, retries } = checked;
      const found = { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems };
      return { ...found, problem_count: checked.problemCount, duplicates, retries, ...foreseenJson(checked) };
    });
    const code = files.every(isTakenWhole) ? 0 : 3;
    return { code, lines, json: { files: shown } };
  });
}

function verdictOf(checked: Checked): string {
  if (checked.ok) return `ok       ${checked.file}: ${takenText(checked)}; separated by ${checked.delimiter}`;
  const problems = checked.problemCount === 1 ? '1 problem' : `${checked.problemCount} problems`;
  return `refused  ${visible(checked.file)}: ${problems}`;
}

function remarksOn(checked: Checked): string[] {
  return [
    ...checked.warnings.map((warning) => `  warning: ${warning}`),
    ...checked.duplicates
      .slice(0, 20)
      .map((d) => `  possible duplicate: row ${d.row} (${d.reference}) looks like ${d.earlier}`),
    ...retryLines(checked.retries),
    ...foreseenLines(checked),
  ];
}

/** Line and row counts when they differ: a quote may have merged lines. */
function linesRead({ lines, rows }: Checked): string[] {
  if (rows === 0 || lines === rows + 1) return [];
  return [`  read ${lines} lines as a header and ${counted(rows, 'row')}`];
}
