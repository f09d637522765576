/**
 * Writing systems of which a name uses one; Japanese and Korean count as one, since their names use several
 * scripts.
 */
const systems = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Coptic', /\p{Script=Coptic}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Thai', /\p{Script=Thai}/u],
  [
    'East Asian',
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u,
  ],
] as const;

/**
 * Returns the writing systems that a name mixes; null for one alone. A Cyrillic `а` in `Adаeze` looks like
 * the Latin letter, but is another name to a bank.
 */
export function mixedScripts(name: string): string[] | null {
  // A shortcut for plain names, which nearly all are.
  if (/^[\u0020-\u007e]*$/.test(name)) return null;
  const used = systems.flatMap(([system, letters]) => (letters.test(name) ? [system] : []));
  return used.length > 1 ? used : null;
}
