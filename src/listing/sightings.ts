import { unreadable } from '../domain/list-order.ts';

/**
 * What one look at a transfer brought: its number in this listing; whether its fields must be written; and the pass that
 * showed it last (0: none).
 */
export type Sighting = {
  number: number;
  content: 'new' | 'changed' | 'same';
  before: number;
  /** The fingerprint of its fields, as many bits of it as a number holds. */
  print: number;
};

/** Every transfer a listing has shown so far, as fingerprints: a million of them take some 35 MB, whatever their fields. */
export type Sightings = {
  /** Makes room for so many at once, as far as that is believed: what is not used yet takes no memory. */
  expect(transfers: number): void;
  /** `createdAt` in ms since the epoch, or {@link unreadable}. */
  see(id: string, row: { fields: string; createdAt: number }, pass: number): Sighting;
  /** Shows a transfer once more with the fields it had last. Returns the pass that showed it last before. */
  seeAgain(number: number, pass: number): number;
  createdAt(number: number): number;
  /** Grows with every row whose content changed; `changedAt` is where it stood when this one's last did, 0 if never. */
  changes(): number;
  changedAt(number: number): number;
  /** The last pass that showed it; 0 when none did. */
  lastPass(id: string): number;
  /** How many were last shown before this pass. */
  lastShownBefore(pass: number): number;
  size(): number;
};

const firstCapacity = 1 << 12;
/** Room for more than this is made only as they come. */
const mostExpected = 1 << 22;
/** Above this share of used slots the table of slots grows. */
const fullest = 0.7;

/**
 * Two 64-bit fingerprints a transfer, of its id and of its fields, numbered as they come; an open-addressed table finds
 * the number. Two ids that met in one fingerprint (one list of a million in forty million) would only make a pass count
 * too few, and so prove nothing.
 */
export function createSightings(): Sightings {
  const shown = emptyShown(firstCapacity);
  /** The number at each slot, plus one; 0 is a free slot. */
  let slots = new Uint32Array(2 * firstCapacity);
  let used = 0;
  let changes = 0;
  const print = new Uint32Array(2);

  /** The slot of the id with this fingerprint, or the free one where it belongs. */
  function slotOf(high: number, low: number): number {
    const mask = slots.length - 1;
    let slot = low & mask;
    for (let at = slots[slot] ?? 0; at !== 0; at = slots[slot] ?? 0) {
      if (shown.low[at - 1] === low && shown.high[at - 1] === high) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  function grow(): void {
    if (used === shown.pass.length) enlarge(shown, 2 * used);
    if (used >= slots.length * fullest) spread(2 * slots.length);
  }

  function spread(length: number): void {
    slots = new Uint32Array(length);
    for (let number = 0; number < used; number++)
      slots[slotOf(shown.high[number] ?? 0, shown.low[number] ?? 0)] = number + 1;
  }

  function noteChange(number: number): void {
    // Most lists stand still while they are read, and need no such column.
    shown.changedAt ??= new Uint32Array(shown.pass.length);
    shown.changedAt[number] = ++changes;
  }

  /** Gives the id its number. */
  function add(slot: number, high: number, low: number): number {
    const number = used++;
    slots[slot] = number + 1;
    shown.high[number] = high;
    shown.low[number] = low;
    return number;
  }

  return {
    expect(transfers) {
      // A few are created while the list is read.
      const capacity = Math.ceil(1.02 * Math.min(transfers, mostExpected));
      if (capacity > shown.pass.length) enlarge(shown, capacity);
      let length = slots.length;
      while (length * fullest < capacity) length *= 2;
      if (length > slots.length) spread(length);
    },
    see(id, { fields, createdAt }, pass) {
      grow();
      fingerprint(id, print);
      const high = print[0] ?? 0;
      const low = print[1] ?? 0;
      const slot = slotOf(high, low);
      const known = slots[slot] ?? 0;
      const number = known === 0 ? add(slot, high, low) : known - 1;
      const before = shown.pass[number] ?? 0;
      fingerprint(fields, print);
      const fieldsHigh = print[0] ?? 0;
      const fieldsLow = print[1] ?? 0;
      shown.pass[number] = pass;
      if (before !== 0 && shown.fieldsHigh[number] === fieldsHigh && shown.fieldsLow[number] === fieldsLow)
        return { number, content: 'same', before, print: wholeOf(fieldsHigh, fieldsLow) };
      shown.fieldsHigh[number] = fieldsHigh;
      shown.fieldsLow[number] = fieldsLow;
      shown.createdAt[number] = createdAt;
      if (before !== 0) noteChange(number);
      const content = before === 0 ? 'new' : 'changed';
      return { number, content, before, print: wholeOf(fieldsHigh, fieldsLow) };
    },
    seeAgain(number, pass) {
      const before = shown.pass[number] ?? 0;
      shown.pass[number] = pass;
      return before;
    },
    createdAt: (number) => shown.createdAt[number] ?? unreadable,
    changes: () => changes,
    changedAt: (number) => shown.changedAt?.[number] ?? 0,
    lastPass(id) {
      fingerprint(id, print);
      const known = slots[slotOf(print[0] ?? 0, print[1] ?? 0)] ?? 0;
      return known === 0 ? 0 : (shown.pass[known - 1] ?? 0);
    },
    lastShownBefore(pass) {
      let n = 0;
      for (let number = 0; number < used; number++) if ((shown.pass[number] ?? 0) < pass) n++;
      return n;
    },
    size: () => used,
  };
}

type Shown = Record<'high' | 'low' | 'fieldsHigh' | 'fieldsLow', Uint32Array> & {
  changedAt: Uint32Array | undefined;
  pass: Uint16Array;
  createdAt: Float64Array;
};

function emptyShown(capacity: number): Shown {
  return {
    high: new Uint32Array(capacity),
    low: new Uint32Array(capacity),
    fieldsHigh: new Uint32Array(capacity),
    fieldsLow: new Uint32Array(capacity),
    changedAt: undefined,
    pass: new Uint16Array(capacity),
    createdAt: new Float64Array(capacity),
  };
}

/** One column after the other, so that the old ones need not all wait for the new; what is not used yet takes no memory. */
function enlarge(shown: Shown, capacity: number): void {
  for (const key of ['high', 'low', 'fieldsHigh', 'fieldsLow'] as const)
    shown[key] = wider(shown[key], capacity);
  if (shown.changedAt) shown.changedAt = wider(shown.changedAt, capacity);
  const pass = new Uint16Array(capacity);
  pass.set(shown.pass);
  shown.pass = pass;
  const createdAt = new Float64Array(capacity);
  createdAt.set(shown.createdAt);
  shown.createdAt = createdAt;
}

function wider(column: Uint32Array, capacity: number): Uint32Array {
  const longer = new Uint32Array(capacity);
  longer.set(column);
  return longer;
}

/** 53 bits of a fingerprint. */
function wholeOf(high: number, low: number): number {
  return (high & 0x1f_ffff) * 2 ** 32 + low;
}

/** Two 32-bit streams with different multipliers, mixed into each other at the end (cyrb53 without its cut to 53 bits). */
function fingerprint(text: string, into: Uint32Array): void {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    one = Math.imul(one ^ letter, 2_654_435_761);
    two = Math.imul(two ^ letter, 1_597_334_677);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(two ^ (two >>> 13), 3_266_489_909);
  two = Math.imul(two ^ (two >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  into[0] = two >>> 0;
  into[1] = one >>> 0;
}
