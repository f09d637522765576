/** Writing systems that belong together in one name: Japanese and Korean use several. */
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
 * The writing systems that one name mixes, or null for one alone: a Cyrillic `а` in `Adаeze` looks like the Latin letter
 * and is another name to a bank.
 */
export function mixedScripts(name: string): string[] | null {
  // Plain names are nearly all of a million rows.
  if (/^[\u0020-\u007e]*$/.test(name)) return null;
  const found = systems.flatMap(([system, letters]) => (letters.test(name) ? [system] : []));
  return found.length > 1 ? found : null;
}
