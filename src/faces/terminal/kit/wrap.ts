import { unmarked } from './ink.ts';
import { textWidth } from './text-width.ts';

/** A command with its arguments: it is typed as one line, so it is not broken. */
const commands =
  /\bcounterfoil [a-z][a-z-]*(?: (?:--[a-z-]+|"[^"]*"|[\w./|-]*(?:[A-Z0-9_/]|\.\w)[\w./|-]*))*/g;
const glue = '\u00a0';

/**
 * Breaks a line between words where it is wider than the terminal. Further lines begin below the text, or `hang` spaces
 * further in. Paths and commands are not broken: people copy them.
 */
export function wrap(line: string, width: number, hang = 0): string[] {
  if (widthOf(line) <= width) return [line];
  const indent = ' '.repeat(/^ */.exec(line)?.[0].length ?? 0);
  const glued = line
    .trimStart()
    .replaceAll(commands, (text) => (text.length < width - 10 ? text.replaceAll(' ', glue) : text));
  const inner = indent + ' '.repeat(hang);
  const lines: string[] = [];
  let current = indent;
  let empty = true;
  for (const word of glued.split(' ')) {
    if (!empty && widthOf(`${current} ${word}`) > width) {
      lines.push(current.trimEnd());
      current = inner;
      empty = true;
    }
    // A second space belongs to the line's own alignment.
    current += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, current].map((text) => text.replaceAll(glue, ' '));
}

function widthOf(text: string): number {
  return textWidth(unmarked(text));
}

export function wrapAll(lines: readonly string[], width: number, hang = 0): string[] {
  return lines.flatMap((line) => wrap(line, width, hang));
}
