import { problemLines, retryLines } from './describe.ts';
import { foreseenJson, foreseenLines, isTakenWhole, takenText } from './foreseen.ts';
import type { Result } from './result.ts';
import { refusedLines, type Taken } from './submit-result.ts';

/** `submit --dry-run`: shows what would be taken in and what refused; records nothing. */
export function describeDryRun(taken: Taken[]): Result {
  const dry = taken.flatMap((t) => (t.kind === 'dry_run' ? [t.checked] : []));
  const refused = taken.flatMap((t) => (t.kind === 'refused' ? [t] : []));
  const lines = dry.flatMap((c) => [
    c.ok ? `would take  ${c.file}: ${takenText(c)}` : `would refuse  ${c.file}: ${c.problemCount} problem(s)`,
    ...problemLines(c.problems, c.problemCount),
    ...retryLines(c.retries),
    ...foreseenLines(c),
  ]);
  const batches = dry.flatMap((c) => {
    if (!c.ok) return [];
    const { file, skipped, totals, warnings, banks, retries } = c;
    const rows = { rows: c.rows - skipped, skipped, ...(skipped > 0 && { problems: c.problems }) };
    return [{ file, ...rows, totals, warnings, banks, retries, ...foreseenJson(c) }];
  });
  const bad = [...dry.filter((c) => !c.ok), ...refused].map(({ file, problems, problemCount }) => ({
    file,
    problem_count: problemCount,
    problems,
  }));
  return {
    code: refused.length === 0 && dry.every(isTakenWhole) ? 0 : 3,
    lines: [...lines, ...refusedLines(taken)],
    json: { dry_run: true, batches, refused: bad },
  };
}
