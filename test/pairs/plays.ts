import { allElements, type Element } from './elements.ts';

/** The first before the second, or at once in two processes. */
export type Order = 'then' | 'at once';
/** Two or three elements side by side. `number` is made of the name, so that it stays when others are added. */
export type Play = { number: number; name: string; order: Order; elements: readonly Element[] };

/** Every two elements in both orders and at once; every three of those that touch money, in one order or at once. */
export function allPlays(elements: readonly Element[] = allElements): Play[] {
  const taken = new Set<number>();
  const plays: Play[] = [];
  const add = (order: Order, some: Element[]): void => {
    const name = `${some.map(({ id }) => id).join(order === 'then' ? ' → ' : ' × ')}, ${order}`;
    let number = numberOf(name);
    while (taken.has(number)) number = numberOf(`${name} ${number}`);
    taken.add(number);
    plays.push({ number, name, order, elements: some });
  };
  for (const [i, one] of elements.entries())
    for (const other of elements.slice(i)) {
      add('then', [one, other]);
      if (other !== one) add('then', [other, one]);
      add('at once', [one, other]);
    }
  const ofMoney = elements.filter(({ move }) => move.touchesMoney);
  for (const [i, one] of ofMoney.entries())
    for (const [j, other] of ofMoney.entries())
      for (const third of ofMoney.slice(j + 1))
        if (i < j) add((i + j) % 2 === 0 ? 'then' : 'at once', [one, other, third]);
  // Pairs first, and otherwise as good as in no order: each part of the list has a bit of everything in it.
  return plays.toSorted((a, b) => a.elements.length - b.elements.length || a.number - b.number);
}

/** FNV-1a, of nine digits. */
function numberOf(name: string): number {
  let value = 0x811c9dc5;
  for (const letter of name) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return ((value ^ (value >>> 16)) >>> 0) % 1_000_000_000;
}
