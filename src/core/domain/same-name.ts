/** Titles that banks and payrolls write or leave out. Some are names too, so a name is compared with and without them. */
const titles = new Set(
  [
    'mr mrs ms miss mx mst master dr doctor prof professor chief alhaji alhaja',
    'alh hajia haj mallam malam engr eng barr barrister rev revd reverend fr father',
    'sr sister bro brother pastor bishop imam sheikh sir dame lady lord hon honourable',
    'honorable prince princess oba otunba arc surv bldr pharm capt captain col colonel gen',
    'general maj major lt sgt justice jnr jr snr senior junior esq phd',
  ].flatMap((line) => line.split(' ')),
);

/** Words that are written in more than one way, and letters that do not fall apart into a letter and its accent. */
const sameWords = new Map([
  ['ltd', 'limited'],
  ['co', 'company'],
  ['intl', 'international'],
  ['nig', 'nigeria'],
]);
const letters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ɓ: 'b',
  ɗ: 'd',
  ƙ: 'k',
  ƴ: 'y',
};

/** The most words that one name may have beside those of the other: middle names. */
const mostExtra = 2;
/** No name has more words: two long texts must not cost much to compare. */
const mostWords = 12;

/**
 * Whether two spellings may be the name of one account holder. Case, accents, punctuation, titles and the order of words do
 * not count. An initial stands for a name, and middle names may be missing. At least two words must agree, one of them in
 * full; a single word must be the whole of both names.
 */
export function isSameName(ours: string, theirs: string): boolean {
  const [a, b] = [wordsOf(ours), wordsOf(theirs)];
  if (a.length === 0 || a.length > mostWords || b.length > mostWords) return false;
  if (a.toSorted().join(' ') === b.toSorted().join(' ')) return true;
  return readingsOf(a).some((one) => readingsOf(b).some((other) => agree(one, other)));
}

function wordsOf(name: string): string[] {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’‘`´ʼ]/gu, '')
    .replace(/[ßæœøłđðþıɓɗƙƴ]/g, (letter) => letters[letter] ?? letter)
    .replace(/&/g, ' and ')
    .split(/[^\p{L}\p{N}*]+/u)
    .flatMap((word) => (word === '' ? [] : [sameWords.get(word) ?? word]));
}

/** The words of a name with and without titles, and with two neighbours written as one: `Jean Pierre`, `Jeanpierre`. */
function readingsOf(words: readonly string[]): (readonly string[])[] {
  const untitled = words.filter((word) => !titles.has(word));
  const joined = (list: readonly string[]): string[][] =>
    list.slice(1).map((word, i) => [...list.slice(0, i), `${list[i]}${word}`, ...list.slice(i + 2)]);
  return [
    words,
    ...joined(words),
    ...(untitled.length < words.length ? [untitled, ...joined(untitled)] : []),
  ];
}

function agree(one: readonly string[], other: readonly string[]): boolean {
  const [few, many] = one.length <= other.length ? [one, other] : [other, one];
  if (few.length < 2 || many.length - few.length > mostExtra) return false;
  const left = [...many];
  const take = (fits: (word: string) => boolean): boolean => {
    const at = left.findIndex(fits);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  // Whole words first: an initial must not take the word that another one needs.
  const rest = few.filter((word) => !take((own) => own === word));
  if (!few.some((word) => word.length > 1 && many.includes(word))) return false;
  return rest.every((word) => take((own) => isInitialOf(word, own) || isInitialOf(own, word)));
}

function isInitialOf(initial: string, word: string): boolean {
  return initial.length === 1 && word.startsWith(initial);
}
