/** A source of numbers in [0, 1). */
export type Random = () => number;

/** A seeded source of numbers (mulberry32): the same seed gives the same run, so that a demo is repeatable. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A number in [0, 1) that depends only on the seed and the text, never on the order in which texts arrive. */
export function shareOf(seed: number, text: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return createRandom(hash)();
}

/** `length` characters of the given alphabet, for keys and identifiers that only have to look realistic. */
export function randomText(random: Random, length: number, alphabet: string): string {
  let text = '';
  while (text.length < length) text += alphabet.charAt(Math.floor(random() * alphabet.length));
  return text;
}
