import { hiddenCharacter } from '../core/domain/hidden.ts';

/** Batch id, our endings and the file's name share one path segment of at most 255 bytes. */
const mostBytes = 150;
const utf8 = new TextEncoder();

/** Returns why a file cannot keep its name as a batch, or null. */
export function fileNameFinding(name: string): { problem: string; fix: string } | null {
  const hidden = hiddenCharacter(name);
  const fix = 'rename the file and give it again';
  if (hidden) return { problem: `the file's name holds the invisible character ${hidden}`, fix };
  const bytes = utf8.encode(name).length;
  if (bytes > mostBytes)
    return { problem: `the file's name has ${bytes} bytes; at most ${mostBytes} are allowed`, fix };
  return null;
}

/**
 * Returns the name without characters that could do harm in messages or paths. Files that report a refusal
 * use it.
 */
export function harmlessName(name: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of name) {
    const safe = hiddenCharacter(character) || character === '/' ? '_' : character;
    bytes += utf8.encode(safe).length;
    if (bytes > mostBytes) break;
    kept += safe;
  }
  return kept === '' ? 'file' : kept;
}

/** The endings of the two sheets of a file. */
export const sheetEndings = { errors: '.errors.csv', invalid: '.invalid.csv' } as const;

/** Whether a file is such a sheet of problems by its name. */
export function isProblemSheet(name: string): boolean {
  return name.toLowerCase().endsWith(sheetEndings.errors);
}
