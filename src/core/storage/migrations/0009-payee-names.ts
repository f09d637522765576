// As names were compared when this migration was written: another way needs another migration, which fills them in again.

/** Words before or behind a name that other files may leave out. */
const titles = new Set([
  ...['mr', 'mrs', 'ms', 'miss', 'mx', 'dr', 'prof', 'professor', 'sir', 'dame', 'lady', 'hon', 'honourable'],
  ...['chief', 'alhaji', 'alhaja', 'hajia', 'malam', 'mallam', 'oba', 'otunba', 'prince', 'princess'],
  ...['engr', 'arc', 'barr', 'barrister', 'esq', 'rev', 'reverend', 'pastor', 'bishop'],
  ...['col', 'capt', 'gen', 'jr', 'snr'],
]);
/** What a second of the same name bears, and other files may leave out. */
const ordinals = new Set(['ii', 'iii', 'iv']);

/** Letters that Unicode does not take apart into a plain letter and a mark. */
const plainLetters: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i' };
/** Letters and digits that look like another, and that one: Cyrillic, Greek, and what a capital I is taken for. */
const [lookalikes, looks] = [
  'авекмнорстухіјѕԁһӏԛԝαβγεηικμνορτυχω01i',
  'abekmhopctyxljsdhlqwabyenlkmvoptuxwoll',
];

/**
 * Returns the letters of a name in alphabetical order, without titles, initials and ordinals; letters that look alike are
 * one. Its numbers stand behind them. Two names that a reader could take for each other have the same, and so may, seldom,
 * two that differ.
 */
export function nameLetters(name: string): string {
  const words = telling(
    wordsOf(name),
    (word) => (word.length > 1 || /\d/.test(word)) && !titles.has(word) && !ordinals.has(word),
  );
  const isNumber = (word: string): boolean => /^\d+$/.test(word);
  const letters = words
    .filter((word) => !isNumber(word))
    .join('')
    .split('')
    .map((letter) => looks[lookalikes.indexOf(letter)] ?? letter);
  return [letters.toSorted().join(''), ...words.filter(isNumber).toSorted()].join(' ');
}

function wordsOf(name: string): string[] {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{Lm}'’‘ʼ`]/gu, '')
    .replace(/[øłđßæœı]/g, (letter) => plainLetters[letter] ?? letter);
  return plain
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .toSorted();
}

/** The words that tell the name; all of them where fewer than two would be left. */
function telling(words: readonly string[], tells: (word: string) => boolean): readonly string[] {
  const some = words.filter(tells);
  return some.length > 1 ? some : words;
}

/** Returns the employer's key of a payee without what two files may write differently: width, case, spaces around it. */
export function idKey(id: string): string {
  return id.normalize('NFKC').trim().toLowerCase();
}
