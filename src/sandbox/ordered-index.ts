export type OrderedIndex<Item> = ReturnType<typeof createOrderedIndex<Item>>;

/** A block that grows beyond this splits in two. Moving one item among a million then moves one block, not all. */
const mostInBlock = 2048;

/**
 * Items in ascending order of a unique number, read by position. A page costs its own length, not the list's. An item's
 * key must not change while the item is in it.
 */
export function createOrderedIndex<Item>(keyOf: (item: Item) => number) {
  /** Each block is ascending and not empty; every key of a block is below those of the next. */
  const blocks: Item[][] = [];
  let size = 0;

  const endsBefore = (block: readonly Item[], key: number): boolean => {
    const last = block.at(-1);
    return last !== undefined && keyOf(last) < key;
  };
  /** The index of the block that holds, or would hold, the key; the length of the list if the key is above all. */
  const blockOf = (key: number): number => firstNot(blocks, (block) => endsBefore(block, key));
  const placeIn = (block: readonly Item[], key: number): number =>
    firstNot(block, (item) => keyOf(item) < key);

  return {
    insert(item: Item): void {
      const key = keyOf(item);
      // Nearly every item is the newest so far; the search serves the few that are not.
      const last = blocks.at(-1);
      const at = last && endsBefore(last, key) ? blocks.length - 1 : blockOf(key);
      const block = blocks[at];
      size += 1;
      if (block === undefined) return void blocks.push([item]);
      if (endsBefore(block, key)) block.push(item);
      else block.splice(placeIn(block, key), 0, item);
      if (block.length > mostInBlock) blocks.splice(at + 1, 0, block.splice(mostInBlock / 2));
    },
    remove(item: Item): void {
      const at = blockOf(keyOf(item));
      const block = blocks[at];
      const place = block ? placeIn(block, keyOf(item)) : 0;
      if (block?.[place] !== item) return;
      block.splice(place, 1);
      size -= 1;
      if (block.length === 0) blocks.splice(at, 1);
    },
    /** `count` items from `start`, counted from the end of the order when `fromEnd`. */
    slice(start: number, count: number, fromEnd: boolean): readonly Item[] {
      const end = fromEnd ? size - start : Math.min(size, start + count);
      const from = fromEnd ? Math.max(0, end - count) : start;
      const items: Item[] = [];
      let before = 0;
      for (const block of blocks) {
        if (before >= end) break;
        if (before + block.length > from)
          items.push(...block.slice(Math.max(0, from - before), end - before));
        before += block.length;
      }
      return fromEnd ? items.reverse() : items;
    },
    size: () => size,
  };
}

/** The first index at which `isBefore` is false, in a list where it is true up to some index and false from there. */
function firstNot<T>(list: readonly T[], isBefore: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = list[middle];
    if (one !== undefined && isBefore(one)) low = middle + 1;
    else high = middle;
  }
  return low;
}
