/**
 * Reads pages of at most `size` rows, each asked for behind the last row of the one before. Memory stays flat, and no
 * page depends on what was added or removed meanwhile in front of it.
 */
export async function* keyset<Row>(
  size: number,
  next: (after: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ; ) {
    const page = await next(last);
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (last === undefined || page.length < size) return;
  }
}

/** Parts of at most `size`, in their order. */
export function* inParts<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
