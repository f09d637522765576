import { hiddenCharacter } from '../domain/hidden.ts';

/** Batch id, our endings and the name share one path segment of at most 255 bytes. */
const mostBytes = 150;
const utf8 = new TextEncoder();

/** Why a dropped or named file cannot keep its name as a batch, or null. */
export function fileNameFinding(name: string): { problem: string; fix: string } | null {
  const hidden = hiddenCharacter(name, false);
  const fix = 'rename the file and give it again';
  if (hidden) return { problem: `the file's name holds the invisible character ${hidden}`, fix };
  const bytes = utf8.encode(name).length;
  if (bytes > mostBytes)
    return { problem: `the file's name has ${bytes} bytes; at most ${mostBytes} are allowed`, fix };
  return null;
}

/** The name with nothing in it that could harm where it is shown or stored: for the files that tell of a refusal. */
export function harmlessName(name: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of name) {
    const shown = hiddenCharacter(character, false) || character === '/' ? '_' : character;
    bytes += utf8.encode(shown).length;
    if (bytes > mostBytes) break;
    kept += shown;
  }
  return kept === '' ? 'file' : kept;
}
