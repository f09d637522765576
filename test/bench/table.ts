import { monitorEventLoopDelay } from 'node:perf_hooks';

/** One step: ours, and the bare loop beside it where there is one. */
export type Line = {
  step: string;
  rows: number;
  seconds: number;
  /** The process's peak so far; none for a process of its own. */
  peakMb?: number;
  /** The longest that nothing else could run; commits are in it. */
  heldMs?: number;
  bare?: { what: string; seconds: number };
  /** The same step and loop with the sandbox as the service, which keeps a whole book. */
  sandbox?: { seconds: number; bareSeconds: number };
  /** Ours to the bare loop's seconds, where it is not simply their quotient: the median of several runs. */
  ratio?: number;
};

/** The middle one; of an even number the upper of the two in the middle. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Runs `work` and tells how it went: wall seconds, the process's peak of memory so far, how long the loop was held. */
export async function timed<T>(
  work: () => Promise<T>,
): Promise<{ seconds: number; peakMb: number; heldMs: number; result: T }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  // What held it last is seen by the next tick only.
  await new Promise((resolve) => setTimeout(resolve, 10));
  delay.disable();
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  return { seconds, peakMb, heldMs: delay.max / 1e6, result };
}

const head = [
  'step',
  'rows',
  'ours s',
  'rows/s',
  'bare s',
  'ours/bare',
  'sandbox',
  'held ms',
  'peak MB',
  'bare loop',
];

/** The lines as a text table that is also Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ step, rows: count, seconds, peakMb, heldMs, bare, ratio, sandbox }) => [
    step,
    String(count),
    seconds.toFixed(2),
    String(Math.round(count / seconds)),
    bare ? bare.seconds.toFixed(2) : '',
    bare ? (ratio ?? seconds / bare.seconds).toFixed(1) : '',
    sandbox ? (sandbox.seconds / sandbox.bareSeconds).toFixed(1) : '',
    heldMs === undefined ? '' : heldMs.toFixed(0),
    peakMb === undefined ? '' : String(peakMb),
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
