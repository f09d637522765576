/** What is known of the list and of where our transfers lie on it. */
export type ListShape = {
  perPage: number;
  order: 'newest_first' | 'oldest_first';
  /** The number of transfers; only a list that shows the oldest first needs it. */
  total: number;
  /** How many more transfers lie before ours than we sent since: other users of the account make transfers too. */
  shift: number;
};

/** Fewer questions than this are cheaper to ask one by one than to look for on a page. */
export const worthAPage = 5;

/**
 * Returns the page that should show a transfer with so many later sends, from 1. It is a guess that saves requests: what the
 * page shows decides.
 */
export function expectedPage({ perPage, order, total, shift }: ListShape, sendsSince: number): number {
  const fromNewest = Math.max(0, sendsSince + shift);
  const place = order === 'newest_first' ? fromNewest : Math.max(0, total - 1 - fromNewest);
  return Math.floor(place / Math.max(1, perPage)) + 1;
}

/**
 * Chooses the next page to read: the first unread one that should answer at least {@link worthAPage} questions; undefined if
 * there is none, and single look-ups cost no more. Pages are read in their order, since new transfers move rows to later ones.
 */
export function nextPage(
  shape: ListShape,
  sendsSince: readonly number[],
  read: ReadonlySet<number>,
): number | undefined {
  const counts = new Map<number, number>();
  for (const sends of sendsSince) {
    const page = expectedPage(shape, sends);
    if (!read.has(page)) counts.set(page, (counts.get(page) ?? 0) + 1);
  }
  const worth = [...counts].flatMap(([page, count]) => (count >= worthAPage ? [page] : []));
  return worth.length === 0 ? undefined : Math.min(...worth);
}

/** One of our transfers on a page that was read: its place on the list, from 0, and how many sends came after it. */
export type Placed = { place: number; sendsSince: number };

/** What a page says of the list: its size, and the order of its first and last row. */
export type PageFacts = Pick<ListShape, 'perPage' | 'total' | 'order'>;

/** Corrects the shape by what a page showed. Undefined: it showed nothing of ours, and the order was known. */
export function corrected(
  shape: ListShape,
  page: PageFacts,
  placed: readonly Placed[],
): ListShape | undefined {
  const { order, total } = page;
  if (placed.length === 0) return order === shape.order ? undefined : { ...shape, ...page };
  const shifts = placed
    .map(({ place, sendsSince }) => (order === 'newest_first' ? place : total - 1 - place) - sendsSince)
    .toSorted((a, b) => a - b);
  return { ...page, shift: shifts[Math.floor(shifts.length / 2)] ?? 0 };
}
