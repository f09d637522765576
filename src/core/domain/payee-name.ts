/** Words before or behind a name that other files may leave out. */
const titles = new Set([
  ...['mr', 'mrs', 'ms', 'miss', 'mx', 'dr', 'prof', 'professor', 'sir', 'dame', 'lady', 'hon', 'honourable'],
  ...['chief', 'alhaji', 'alhaja', 'hajia', 'malam', 'mallam', 'oba', 'otunba', 'prince', 'princess'],
  ...['engr', 'arc', 'barr', 'barrister', 'esq', 'rev', 'reverend', 'pastor', 'bishop'],
  ...['col', 'capt', 'gen', 'jr', 'snr'],
]);
/** What a second of the same name bears besides, and other files may leave out. */
const leftOut = new Set([...titles, 'ii', 'iii', 'iv']);

/** Letters that Unicode does not take apart into a plain letter and a mark. */
const plainLetters: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i' };
/** Letters and digits that look like another, and that one: Cyrillic, Greek, and what a capital I is taken for. */
const [lookalikes, looks] = [
  'авекмнорстухіјѕԁһӏԛԝαβγεηικμνορτυχω01i',
  'abekmhopctyxljsdhlqwabyenlkmvoptuxwoll',
];
const likeAnother = new RegExp(`[${lookalikes}]`, 'g');
const looksOf = new Map(lookalikes.split('').map((letter, i) => [letter, looks[i] ?? '']));

/**
 * Returns a name without what differs between two spellings of it: case, order of words, titles, punctuation and
 * diacritics. It is the same for `ADEYEMI, Dr. Bọla` and `Bola Adeyemi`. A title stays beside a single word.
 */
export function payeeNameKey(name: string): string {
  return telling(wordsOf(name).toSorted(), (word) => !titles.has(word)).join(' ');
}

/**
 * Returns the letters of a name in alphabetical order, without titles, initials and ordinals; letters that look alike are
 * one. Its numbers stand behind them. Two names that a reader could take for each other have the same, and so may, seldom,
 * two that differ.
 */
export function payeeNameLetters(name: string): string {
  const words = telling(
    wordsOf(name),
    (word) => !leftOut.has(word) && (word.length > 1 || isNumber.test(word)),
  );
  const all = words.join('');
  const numbers = /\d/.test(all) ? words.filter((word) => isNumber.test(word)) : [];
  const spelt = numbers.length > 0 ? words.filter((word) => !isNumber.test(word)).join('') : all;
  const letters = inOrder(spelt.replace(likeAnother, (letter) => looksOf.get(letter) ?? ''));
  return [letters, ...numbers.toSorted()].join(' ');
}

/** The letters of a text in the order of their numbers. As strings they would take four times as long to sort. */
function inOrder(letters: string): string {
  const units = Buffer.from(letters, 'utf16le');
  new Uint16Array(units.buffer, units.byteOffset, letters.length).sort();
  return units.toString('utf16le');
}

function wordsOf(name: string): string[] {
  // Most names are ASCII, of which the short pattern says the same.
  if (!beyondAscii.test(name))
    return (
      name
        .toLowerCase()
        .replace(/['`]/g, '')
        .match(/[a-z0-9]+/g) ?? []
    );
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{Lm}'’‘ʼ`]/gu, '')
    .replace(/[øłđßæœı]/g, (letter) => plainLetters[letter] ?? letter);
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const isNumber = /^\d+$/;
const beyondAscii = /\P{ASCII}/u;

/** The words that tell the name; all of them where fewer than two would be left. */
function telling(words: readonly string[], tells: (word: string) => boolean): readonly string[] {
  const some = words.filter(tells);
  return some.length > 1 ? some : words;
}

/** By what the payee of a payout is found again in the whole ledger. */
export function payeeKeysOf({ account_name, payee_id }: { account_name: string; payee_id: string }) {
  return { name_letters: payeeNameLetters(account_name), payee_key: payeeIdKey(payee_id) };
}

/** What people write into a cell for which they have nothing. */
const placeholder =
  /^(n[./]?a\.?|none|nil|null|unknown|not (applicable|available|known)|tb[acd]|0+|x+|[-\u2013\u2014_.?*#/]+)$/i;

/** The employer's key of a payee as a cell has it; empty for a placeholder such as `N/A`, which is no key. */
export function givenPayeeId(cell: string): string {
  return placeholder.test(cell.normalize('NFKC').trim()) ? '' : cell;
}

/** Returns the employer's key of a payee without what two files may write differently: width, case, spaces around it. */
function payeeIdKey(id: string): string {
  return id.normalize('NFKC').trim().toLowerCase();
}
