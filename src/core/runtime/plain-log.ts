/** How bad a line is, by its level. */
const words: Readonly<Record<string, string>> = { fatal: 'error: ', error: 'error: ', warn: 'warning: ' };

/** Fields that are part of what happened; the others are for machines. */
const shown = ['job', 'file', 'detail', 'why'] as const;

/**
 * Rewrites a JSON line of the log as one plain line: the time, how bad it is, what happened and why. Text that is no such
 * line is unchanged.
 */
export function plainLine(line: string, time: (instant: string) => string): string {
  const entry = parsed(line);
  if (entry === null) return line;
  const word = words[typeof entry.level === 'string' ? entry.level : ''] ?? '';
  const fields = shown.flatMap((name) => textOf(entry[name])).filter((text) => text !== entry.msg);
  const { err } = entry;
  const error = typeof err === 'object' && err !== null && 'message' in err ? textOf(err.message) : [];
  const said = [...textOf(entry.msg), ...fields, ...error];
  const text = said.join(': ').replaceAll(/\s*\n\s*/g, ' ');
  return `${time(typeof entry.time === 'string' ? entry.time : '')}  ${word}${text}\n`;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? { ...entry } : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}
