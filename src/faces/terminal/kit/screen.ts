import type { Closing, Result, Screen } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { wrapAll } from './wrap.ts';

/** The end as lines. */
export function closing(parts: Closing): string[] {
  const rows = Object.entries(parts).flatMap(([label, text]) =>
    [text]
      .flat()
      .flatMap((one, index) => (one === '' ? [] : [[index === 0 ? `${label}:` : '', one] as const])),
  );
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${label.padEnd(width)} ${text}`);
}

/** The lines of a screen, as wide as the terminal. */
export function screenLines({ blocks, end = {} }: Screen, columns: number): string[] {
  const shown = blocks.filter((block) => block.length > 0);
  const lines = shown.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  const last = closing(end);
  return wrapAll(last.length === 0 ? lines : [...lines, '', ...last], columns, 2);
}

/** A result with its screen as lines. News of a success is hidden under `--quiet`. */
export function rendered({ columns, options }: Context, { screen, isNews, ...result }: Result): Result {
  if (isNews && options.quiet && result.code === 0) return { ...result, lines: [] };
  return screen ? { ...result, lines: screenLines(screen, columns) } : result;
}
