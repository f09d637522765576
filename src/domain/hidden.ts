/** Control, bidi and zero-width characters, and letters that leave no mark: nobody sees them, yet they make another text. */
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/** The sign behind an emoji that asks for its colours: it makes no other text. */
const emojiSelector = /(?<=\p{Emoji})\ufe0f/gu;

/**
 * Names the first character that nobody can see (control, bidi, zero-width) as `U+200B`, or null. A line feed is
 * allowed where `lineFeeds` says so, and with `emoji` the selector that many keyboards put behind one.
 */
export function hiddenCharacter(text: string, lineFeeds: boolean, emoji = false): string | null {
  // Nearly every cell of a million rows is plain.
  if (/^[ -~]*$/.test(text)) return null;
  for (const match of (emoji ? text.replaceAll(emojiSelector, '') : text).matchAll(hidden)) {
    if (lineFeeds && match[0] === '\n') continue;
    return codePoint(match[0]);
  }
  return null;
}

/** What a hidden character is to people, and how to be rid of it: what a keyboard joins to an emoji comes again when typed. */
export function hiddenFinding(hiddenName: string): { problem: string; fix: string } {
  switch (hiddenName) {
    case 'U+000A':
    case 'U+000D':
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

/** The text with every such character written out as `<U+202E>`: what is printed can then neither hide nor turn around. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => `<${codePoint(character)}>`);
}

/** A text for the terminal, in lines: what services and files say must not move the cursor, or turn the text, of who reads it. */
export function legible(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
