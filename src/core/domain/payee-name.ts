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
/** What each character looks like, by its number: a table, since a map takes a name three times as long. */
const looksOf = Uint16Array.from({ length: 0x600 }, (_, unit) => unit);
lookalikes.split('').forEach((letter, i) => {
  looksOf[letter.charCodeAt(0)] = looks.charCodeAt(i);
});

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
  const words = telling(wordsOf(name), (word) => !leftOut.has(word) && (word.length > 1 || isNumber(word)));
  const numbers: string[] = [];
  let spelt = '';
  for (const word of words)
    if (isNumber(word)) numbers.push(word);
    else spelt += word;
  return [lettersOf(spelt), ...numbers.toSorted()].join(' ');
}

/** As many letters are inserted one by one; more than a name has would take the square of their number. */
const mostInserted = 100;

/** The letters of a text as what they look like, in the order of their numbers. The runtime's own sort takes twice as long. */
function lettersOf(text: string): string {
  if (text.length > mostInserted) return text.split('').map(lookOf).toSorted().join('');
  const sorted: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const look = lookOfUnit(text.charCodeAt(at));
    let place = at;
    for (; place > 0 && (sorted[place - 1] ?? 0) > look; place--) sorted[place] = sorted[place - 1] ?? 0;
    sorted[place] = look;
  }
  return String.fromCharCode(...sorted);
}

const lookOfUnit = (unit: number): number => looksOf[unit] ?? unit;
const lookOf = (letter: string): string => String.fromCharCode(lookOfUnit(letter.charCodeAt(0)));

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

const isNumber = (word: string): boolean => /^\d+$/.test(word);
const beyondAscii = /[\u0080-\uffff]/;

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
