/** Control, bidi and zero-width characters, and letters without a mark: they are invisible and yet change the text. */
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/** What is not reported, by column. The selector after an emoji asks for colours: it does not change the text. */
const keptIn = new Map<string, RegExp>([
  ['narration', /[\n\u2028]|(?<=\p{Emoji})\ufe0f/gu],
  ['header', /\n/g],
]);

/**
 * Names the first invisible character (control, bidi, zero-width) as `U+200B`, or returns null. A narration may have line
 * feeds, line separators, and the selector that many keyboards add after an emoji; a header has line feeds reported elsewhere.
 */
export function hiddenCharacter(text: string, column = ''): string | null {
  // Nearly every cell of a million rows is plain.
  if (/^[ -~]*$/.test(text)) return null;
  const kept = keptIn.get(column);
  const [first] = (kept ? text.replaceAll(kept, '') : text).match(hidden) ?? [];
  return first === undefined ? null : codePoint(first);
}

/** Describes a hidden character and its removal. Retyping does not remove those that keyboards add to emoji. */
export function hiddenFinding(hiddenName: string): { problem: string; fix: string } {
  switch (hiddenName) {
    case 'U+000A':
    case 'U+000D':
    case 'U+2028':
      return {
        problem: 'holds a line break',
        fix: 'write the value in one line; a quote may be missing its partner',
      };
    case 'U+001A':
      return {
        problem: 'holds a Ctrl-Z, with which old programs end a file',
        fix: 'remove it: save the file again with a text editor or a spreadsheet',
      };
    case 'U+200D':
    case 'U+FE0F':
      return {
        problem: `holds the invisible character ${hiddenName}, as joined emoji do`,
        fix: 'remove the emoji or symbol at that place, or write a simpler one',
      };
    default:
      return {
        problem: `holds the invisible character ${hiddenName}`,
        fix: 'delete it: type the value again',
      };
  }
}

/** Writes every such character as `<U+202E>`, so that printed text can neither hide anything nor change its direction. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => `<${codePoint(character)}>`);
}

/** Makes text safe for the terminal: text of services and files must not move the cursor or change the direction. */
export function legible(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu, ' ');
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
