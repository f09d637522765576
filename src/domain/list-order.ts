/** In which order a list showed its rows: by creation either way, or any other. */
export type ListOrder = 'newest_first' | 'oldest_first' | 'other';
/** An order that lets a walk stop at an edge (P29). */
export type CreationOrder = Exclude<ListOrder, 'other'>;

/** Watches the order of one walk's rows; a row that an earlier page showed already says nothing and is left out. */
export type OrderWatch = {
  /** The next row of the walk; `createdAt` in ms since the epoch, or `unreadable`: that is no order. */
  row(createdAt: number): void;
  /** False from the first row on that breaks the order. */
  held(order: CreationOrder): boolean;
  /** null when the rows are too few, or too alike in time, to tell. */
  seen(): ListOrder | null;
};

export function createOrderWatch(): OrderWatch {
  let before: number | null = null;
  let descending = true;
  let ascending = true;
  return {
    row(createdAt) {
      if (createdAt === unreadable) descending = ascending = false;
      if (before !== null && createdAt > before) descending = false;
      if (before !== null && createdAt < before) ascending = false;
      before = createdAt;
    },
    held: (order) => (order === 'newest_first' ? descending : ascending),
    seen() {
      if (descending && ascending) return null;
      if (descending) return 'newest_first';
      return ascending ? 'oldest_first' : 'other';
    },
  };
}

/** What two walks saw together: an order counts only when both saw it. */
export function bothSaw(one: ListOrder | null, other: ListOrder | null): ListOrder | null {
  if (one === null || other === null) return null;
  return one === other ? one : 'other';
}

/** P15: a transfer may bear a time so much before our intent, since clocks differ. */
const edgeSkewMs = 5 * 60_000;

/** Everything that keeps the short cut's edge back; instants are ISO UTC. */
export type EdgeFacts = {
  begunAt: string;
  windowDays: number;
  /** Up to when the base listing is proven whole: what was created later must be looked at. */
  baseCut: string;
  /** The first intent of the oldest payout that may still move; null when there is none. */
  oldestOpenAt: string | null;
};

/** P29: what was created at or after this instant is looked at; the base listing stands for the rest. */
export function edgeOf({ begunAt, windowDays, baseCut, oldestOpenAt }: EdgeFacts): string {
  const window = Date.parse(begunAt) - windowDays * 86_400_000;
  const open = oldestOpenAt === null ? window : Date.parse(oldestOpenAt);
  return new Date(Math.min(window, open, Date.parse(baseCut)) - edgeSkewMs).toISOString();
}

/** A payout first sent since then must have been created inside the window, whatever the clocks. */
export function sentInside(edge: string): string {
  return new Date(Date.parse(edge) + edgeSkewMs).toISOString();
}

/** How many pages a walk to the edge may leave unread; `older`: rows that lie beyond it. None: the list is short. */
export function pagesSaved(
  order: CreationOrder,
  { older, perPage, lastPage }: { older: number; perPage: number; lastPage: number },
): number {
  // The page that holds the edge is read, and one page that lies wholly beyond it; oldest first, page 1 too.
  const read = order === 'newest_first' ? 1 : 2;
  const beyond = Math.min(lastPage - 1, Math.floor(older / Math.max(1, perPage)));
  return Math.max(0, beyond - read);
}

/** A transfer's place in time when its `created_at` is no instant: before every edge, below every cut. */
export const unreadable = Number.NEGATIVE_INFINITY;
