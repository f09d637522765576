/** One step: ours, and the bare loop beside it where there is one. */
export type Line = {
  step: string;
  rows: number;
  seconds: number;
  peakMb: number;
  bare?: { what: string; seconds: number };
};

/** Runs `work` and returns its wall seconds and the process's peak of memory so far beside its result. */
export async function timed<T>(
  work: () => Promise<T>,
): Promise<{ seconds: number; peakMb: number; result: T }> {
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  return { seconds, peakMb: Math.round(process.resourceUsage().maxRSS / 1024), result };
}

const head = ['step', 'rows', 'ours s', 'rows/s', 'bare s', 'ours/bare', 'peak MB', 'bare loop'];

/** The lines as a text table that is also Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ step, rows: count, seconds, peakMb, bare }) => [
    step,
    String(count),
    seconds.toFixed(2),
    String(Math.round(count / seconds)),
    bare ? bare.seconds.toFixed(2) : '',
    bare ? (seconds / bare.seconds).toFixed(1) : '',
    String(peakMb),
    bare?.what ?? '',
  ]);
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const lineOf = (cells: string[]): string =>
    `| ${cells.map((cell, at) => (isText(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (isText(at) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [lineOf(head), rule, ...rows.map(lineOf)].join('\n');
}

function isText(column: number): boolean {
  return column === 0 || column === head.length - 1;
}
