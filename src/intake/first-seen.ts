import { giveBackMemory, ownPages } from '../core/domain/own-pages.ts';

/**
 * So many places come at once. Memory is taken only for those that are used, and a usual file never moves to more: that would
 * take longer than all its look-ups.
 */
const leastCapacity = 65_536;

/**
 * Remembers in which row a text was first seen, in about 20 bytes a text, so that a million rows fit in flat
 * memory. Texts are compared by a 64-bit hash, so an equal pair is never missed. Two different texts of a
 * million collide with a chance of 3 in 100 million, and then a good file is refused. Row 0 only asks. `expected`: about
 * how many texts come.
 */
export function firstSeen(expected = 0): (text: string, row: number) => number | null {
  let size = 0;
  let capacity = Math.max(leastCapacity, expected * 2);
  let slots = new Uint32Array(ownPages(capacity * 12));

  function place(into: Uint32Array, room: number, low: number, high: number, row: number): number | null {
    for (let slot = low % room; ; slot = (slot + 1) % room) {
      const earlier = into[slot * 3 + 2] ?? 0;
      if (earlier === 0) {
        into[slot * 3] = low;
        into[slot * 3 + 1] = high;
        into[slot * 3 + 2] = row;
        return null;
      }
      if (into[slot * 3] === low && into[slot * 3 + 1] === high) return earlier;
    }
  }

  function grow(): void {
    const bigger = new Uint32Array(ownPages(capacity * 24));
    for (let i = 0; i < slots.length; i += 3) {
      const row = slots[i + 2] ?? 0;
      if (row !== 0) place(bigger, capacity * 2, slots[i] ?? 0, slots[i + 1] ?? 0, row);
    }
    giveBackMemory(slots);
    slots = bigger;
    capacity *= 2;
  }

  return (text, row) => {
    if (size * 2 > capacity) grow();
    const [low, high] = hash64(text);
    const earlier = place(slots, capacity, low, high, row);
    if (earlier === null && row > 0) size++;
    return earlier;
  };
}

/** Hashes with two independent 32-bit halves, like cyrb53; not for secrets. */
function hash64(text: string): [number, number] {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return [a >>> 0, b >>> 0];
}
