import { type Problem, problemSentence } from '../domain/problem.ts';

/** `NGN 1200000.00, ZAR 5000.00`; `nothing` for none. */
export function totalsText(totals: Record<string, string>): string {
  const parts = Object.entries(totals).map(([currency, amount]) => `${currency} ${amount}`);
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}

/** `12 success, 1 failed`; `none` for none. */
export function countsText(counts: Record<string, number | undefined>): string {
  const parts = Object.entries(counts).flatMap(([name, n]) => (n ? [`${n} ${name}`] : []));
  return parts.length > 0 ? parts.join(', ') : 'none';
}

/** The first problems as sentences, and how many more there are. */
export function problemLines(problems: readonly Problem[], count: number, most = 20): string[] {
  const shown = problems.slice(0, most).map((problem) => `  ${problemSentence(problem)}`);
  return count > shown.length ? [...shown, `  … and ${count - shown.length} more`] : shown;
}
