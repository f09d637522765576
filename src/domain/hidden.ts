/** Control, bidi and zero-width characters, and letters that leave no mark: nobody sees them, yet they make another text. */
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/**
 * Names the first character that nobody can see (control, bidi, zero-width) as `U+200B`, or null. A line feed is
 * allowed where `lineFeeds` says so.
 */
export function hiddenCharacter(text: string, lineFeeds: boolean): string | null {
  // Nearly every cell of a million rows is plain.
  if (/^[ -~]*$/.test(text)) return null;
  for (const match of text.matchAll(hidden)) {
    if (lineFeeds && match[0] === '\n') continue;
    return codePoint(match[0]);
  }
  return null;
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
