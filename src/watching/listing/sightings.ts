import { unreadableTime } from '../../core/domain/list-order.ts';
import { giveBackMemory, ownPages } from '../../core/domain/own-pages.ts';

/**
 * One sighting of a transfer: its number in this listing, whether its fields must be written, and the last earlier pass
 * that showed it (0: none).
 */
export type TransferSighting = {
  number: number;
  content: 'new' | 'changed' | 'same';
  before: number;
  /** The fingerprint of its fields, cut to the bits that a number holds. */
  print: number;
};

/**
 * Every transfer that a listing has shown so far, as fingerprints. A million take some 35 MB, whatever their fields. A
 * `Map` of them by id made the process grow by 364 MB instead of 108, and took 1.4 times as long.
 */
export type Sightings = {
  /** Reserves room for this many, within a limit; unused room takes no memory. */
  expect(transfers: number): void;
  /** Records a sighting. `createdAt` in ms since the epoch, or {@link unreadableTime}. */
  see(id: string, row: { fields: string; createdAt: number }, pass: number): TransferSighting;
  /** Records a sighting with unchanged fields. Returns the last earlier pass that showed it. */
  seeAgain(number: number, pass: number): number;
  createdAt(number: number): number;
  /** A counter that grows with each changed row. `changedAt`: its value when this row last changed, 0 if never. */
  changes(): number;
  changedAt(number: number): number;
  /** The last pass that showed it; 0 when none did. */
  lastPass(id: string): number;
  /** How many were last shown before this pass. */
  lastShownBefore(pass: number): number;
  size(): number;
  /** Gives the memory back at once: until the next large collection of garbage, another listing would need as much again. */
  release(): void;
};

const firstCapacity = 1 << 12;
/** Room beyond this grows only as transfers come. */
const mostExpected = 1 << 22;
/** Above this share of used slots, the slot table grows. */
const fullest = 0.7;

/**
 * Keeps two 64-bit fingerprints for each transfer, of its id and of its fields, numbered as they come. An
 * open-addressed table finds the number. If two ids collided (one list of a million in forty million), a pass would
 * count too few and prove nothing.
 */
export function createSightings(): Sightings {
  const table = emptyColumns(firstCapacity);
  /** The number at each slot, plus one; 0 is a free slot. */
  let slots = integers(2 * firstCapacity);
  let used = 0;
  let changes = 0;
  const print = new Uint32Array(2);

  /** The slot of the id with this fingerprint, or the free slot where it belongs. */
  function slotOf(high: number, low: number): number {
    const mask = slots.length - 1;
    let slot = low & mask;
    for (let at = slots[slot] ?? 0; at !== 0; at = slots[slot] ?? 0) {
      if (table.low[at - 1] === low && table.high[at - 1] === high) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  function grow(): void {
    if (used === table.pass.length) enlarge(table, 2 * used);
    if (used >= slots.length * fullest) spread(2 * slots.length);
  }

  function spread(length: number): void {
    giveBackMemory(slots);
    slots = integers(length);
    for (let number = 0; number < used; number++)
      slots[slotOf(table.high[number] ?? 0, table.low[number] ?? 0)] = number + 1;
  }

  function noteChange(number: number): void {
    // Most lists do not change during the walk and need no such column.
    table.changedAt ??= integers(table.pass.length);
    table.changedAt[number] = ++changes;
  }

  /** Gives the id its number. */
  function add(slot: number, high: number, low: number): number {
    const number = used++;
    slots[slot] = number + 1;
    table.high[number] = high;
    table.low[number] = low;
    return number;
  }

  return {
    expect(transfers) {
      // A few are created during the walk.
      const capacity = Math.ceil(1.02 * Math.min(transfers, mostExpected));
      if (capacity > table.pass.length) enlarge(table, capacity);
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
      const before = table.pass[number] ?? 0;
      fingerprint(fields, print);
      const fieldsHigh = print[0] ?? 0;
      const fieldsLow = print[1] ?? 0;
      table.pass[number] = pass;
      if (before !== 0 && table.fieldsHigh[number] === fieldsHigh && table.fieldsLow[number] === fieldsLow)
        return { number, content: 'same', before, print: wholeOf(fieldsHigh, fieldsLow) };
      table.fieldsHigh[number] = fieldsHigh;
      table.fieldsLow[number] = fieldsLow;
      table.createdAt[number] = createdAt;
      if (before !== 0) noteChange(number);
      const content = before === 0 ? 'new' : 'changed';
      return { number, content, before, print: wholeOf(fieldsHigh, fieldsLow) };
    },
    seeAgain(number, pass) {
      const before = table.pass[number] ?? 0;
      table.pass[number] = pass;
      return before;
    },
    createdAt: (number) => table.createdAt[number] ?? unreadableTime,
    changes: () => changes,
    changedAt: (number) => table.changedAt?.[number] ?? 0,
    lastPass(id) {
      fingerprint(id, print);
      const known = slots[slotOf(print[0] ?? 0, print[1] ?? 0)] ?? 0;
      return known === 0 ? 0 : (table.pass[known - 1] ?? 0);
    },
    lastShownBefore(pass) {
      let n = 0;
      for (let number = 0; number < used; number++) if ((table.pass[number] ?? 0) < pass) n++;
      return n;
    },
    size: () => used,
    release() {
      for (const column of [...Object.values(table), slots]) if (column) giveBackMemory(column);
    },
  };
}

type Columns = Record<'high' | 'low' | 'fieldsHigh' | 'fieldsLow', Uint32Array<ArrayBuffer>> & {
  changedAt: Uint32Array<ArrayBuffer> | undefined;
  pass: Uint16Array<ArrayBuffer>;
  createdAt: Float64Array<ArrayBuffer>;
};

function emptyColumns(capacity: number): Columns {
  return {
    high: integers(capacity),
    low: integers(capacity),
    fieldsHigh: integers(capacity),
    fieldsLow: integers(capacity),
    changedAt: undefined,
    pass: new Uint16Array(ownPages(2 * capacity)),
    createdAt: new Float64Array(ownPages(8 * capacity)),
  };
}

/** Enlarges one column after the other, so that only one old column is kept meanwhile; unused room takes no memory. */
function enlarge(table: Columns, capacity: number): void {
  for (const key of ['high', 'low', 'fieldsHigh', 'fieldsLow'] as const)
    table[key] = moved(table[key], integers(capacity));
  if (table.changedAt) table.changedAt = moved(table.changedAt, integers(capacity));
  table.pass = moved(table.pass, new Uint16Array(ownPages(2 * capacity)));
  table.createdAt = moved(table.createdAt, new Float64Array(ownPages(8 * capacity)));
}

function integers(count: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(ownPages(4 * count));
}

/** Moves a column into a longer one. */
function moved<T extends Columns[keyof Columns] & object>(column: T, longer: T): T {
  longer.set(column);
  giveBackMemory(column);
  return longer;
}

/** 53 bits of a fingerprint. */
function wholeOf(high: number, low: number): number {
  return (high & 0x1f_ffff) * 2 ** 32 + low;
}

/** Two 32-bit streams with different multipliers, mixed at the end (cyrb53 without its cut to 53 bits). */
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
