/** Items in ascending order of a unique number, read by position: a page costs its own length, not the list's. */
export type OrderedIndex<Item> = {
  insert(item: Item): void;
  remove(item: Item): void;
  /** `count` items from `start`, counted from the end of the order when `fromEnd`. */
  slice(start: number, count: number, fromEnd: boolean): readonly Item[];
  size(): number;
};

/** An empty index. An item's key must not change while the item is in it. */
export function createOrderedIndex<Item>(keyOf: (item: Item) => number): OrderedIndex<Item> {
  const items: Item[] = [];

  function position(key: number): number {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = items[middle];
      if (item !== undefined && keyOf(item) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    insert(item) {
      const last = items.at(-1);
      // Nearly every item is the newest so far; the search is for the few that are not.
      if (last === undefined || keyOf(last) < keyOf(item)) items.push(item);
      else items.splice(position(keyOf(item)), 0, item);
    },
    remove(item) {
      const at = position(keyOf(item));
      if (items[at] === item) items.splice(at, 1);
    },
    slice(start, count, fromEnd) {
      if (!fromEnd) return items.slice(start, start + count);
      const end = items.length - start;
      return end <= 0 ? [] : items.slice(Math.max(0, end - count), end).reverse();
    },
    size: () => items.length,
  };
}
