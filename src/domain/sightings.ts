/** What one look at a transfer brought: `content` says whether its fields must be written; `before` is the pass that showed it last (0: none). */
export type Sighting = { content: 'new' | 'changed' | 'same'; before: number };

/** Every transfer a listing has shown so far, as fingerprints: a million of them take some 40 MB, whatever their fields. */
export type Sightings = {
  see(id: string, fields: string, pass: number): Sighting;
  /** The last pass that showed it; 0 when none did. */
  lastPass(id: string): number;
  /** How many were last shown before this pass. */
  lastShownBefore(pass: number): number;
  size(): number;
};

const firstCapacity = 1 << 12;
/** Above this share of used slots the table grows. */
const fullest = 0.7;

/**
 * Two 64-bit fingerprints a transfer, of its id and of its fields, in one open-addressed table. Two ids that met in one
 * fingerprint (one list of a million in forty million) would only make a pass count too few, and so prove nothing.
 */
export function createSightings(): Sightings {
  let table = emptyTable(firstCapacity);
  let used = 0;
  const print = new Uint32Array(2);

  /** The slot of the id in `print`, or the free one where it belongs. */
  function slotOf(high: number, low: number): number {
    const mask = table.passes.length - 1;
    let slot = low & mask;
    while (table.passes[slot] !== 0 && (table.low[slot] !== low || table.high[slot] !== high))
      slot = (slot + 1) & mask;
    return slot;
  }

  function grow(): void {
    const old = table;
    table = emptyTable(old.passes.length * 2);
    for (const [from, pass] of old.passes.entries()) {
      if (pass === 0) continue;
      const to = slotOf(old.high[from] ?? 0, old.low[from] ?? 0);
      for (const key of ['high', 'low', 'fieldsHigh', 'fieldsLow', 'passes'] as const)
        table[key][to] = old[key][from] ?? 0;
    }
  }

  return {
    see(id, fields, pass) {
      if (used >= table.passes.length * fullest) grow();
      fingerprint(id, print);
      const [high = 0, low = 0] = print;
      const slot = slotOf(high, low);
      const before = table.passes[slot] ?? 0;
      fingerprint(fields, print);
      const same = before !== 0 && table.fieldsHigh[slot] === print[0] && table.fieldsLow[slot] === print[1];
      if (before === 0) {
        used++;
        table.high[slot] = high;
        table.low[slot] = low;
      }
      table.fieldsHigh[slot] = print[0] ?? 0;
      table.fieldsLow[slot] = print[1] ?? 0;
      table.passes[slot] = pass;
      return { content: before === 0 ? 'new' : same ? 'same' : 'changed', before };
    },
    lastPass(id) {
      fingerprint(id, print);
      return table.passes[slotOf(print[0] ?? 0, print[1] ?? 0)] ?? 0;
    },
    lastShownBefore: (pass) => table.passes.reduce((n, last) => n + Number(last !== 0 && last < pass), 0),
    size: () => used,
  };
}

type Table = Record<'high' | 'low' | 'fieldsHigh' | 'fieldsLow', Uint32Array> & { passes: Uint16Array };

function emptyTable(capacity: number): Table {
  return {
    high: new Uint32Array(capacity),
    low: new Uint32Array(capacity),
    fieldsHigh: new Uint32Array(capacity),
    fieldsLow: new Uint32Array(capacity),
    passes: new Uint16Array(capacity),
  };
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
