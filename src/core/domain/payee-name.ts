/** Words before or behind a name that other files may leave out. */
const titles = new Set(
  `mr mrs ms miss mx dr prof professor sir dame lady chief alhaji alhaja hajia hadjia mallam malam engr arc barr
  barrister pastor rev reverend bishop otunba prince princess oba hon honourable col capt gen jr snr esq`.split(
    /\s+/,
  ),
);

/** Letters that Unicode does not take apart into a plain letter and a mark. */
const plainLetters: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i' };

/**
 * Returns a name without what differs between two spellings of it: case, order of words, titles, punctuation and
 * diacritics. It is the same for `ADEYEMI, Dr. Bọla` and `Bola Adeyemi`.
 */
export function payeeNameKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’‘ʼ`]/gu, '')
    .replace(/[øłđßæœı]/g, (letter) => plainLetters[letter] ?? letter);
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const telling = words.filter((word) => !titles.has(word));
  return (telling.length > 0 ? telling : words).toSorted().join(' ');
}
