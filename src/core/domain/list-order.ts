/** The order in which a list shows its rows: by creation in either direction, or another. */
export type ListOrder = 'newest_first' | 'oldest_first' | 'other';
/** An order that lets a walk stop at an edge (P29). */
export type CreationOrder = Exclude<ListOrder, 'other'>;

/** Observes the order of one walk's rows; rows that an earlier page showed are skipped. */
export function createOrderWatch() {
  // Nothing is above or below it.
  let before = Number.NaN;
  let descending = true;
  let ascending = true;
  return {
    /** The next row of the walk; `createdAt` in ms since the epoch. `unreadable` breaks any order. */
    row(createdAt: number): void {
      if (createdAt === unreadableTime) descending = ascending = false;
      if (createdAt > before) descending = false;
      if (createdAt < before) ascending = false;
      before = createdAt;
    },
    /** False from the first row that breaks the order. */
    held: (order: CreationOrder): boolean => (order === 'newest_first' ? descending : ascending),
    /** null when the rows are too few, or too close in time, to decide. */
    seen(): ListOrder | null {
      if (descending && ascending) return null;
      if (descending) return 'newest_first';
      return ascending ? 'oldest_first' : 'other';
    },
  };
}

/** The order that two walks saw: it counts only when both saw it. */
export function bothSaw(one: ListOrder | null, other: ListOrder | null): ListOrder | null {
  if (one === null || other === null) return null;
  return one === other ? one : 'other';
}

/** P15: because clocks differ, a transfer's time may be this much before our intent. */
const edgeSkewMs = 5 * 60_000;

/** The facts that limit the short cut's edge; instants are ISO UTC. */
export type EdgeFacts = {
  begunAt: string;
  windowDays: number;
  /** The instant up to which the base listing is proven complete: later transfers must be read. */
  baseCut: string;
  /** The first intent of the oldest payout that may still move; null if there is none. */
  oldestOpenAt: string | null;
};

/** P29: a short cut reads what was created at or after this instant; the base listing stands for the rest. */
export function edgeOf({ begunAt, windowDays, baseCut, oldestOpenAt }: EdgeFacts): string {
  const window = Date.parse(begunAt) - windowDays * 86_400_000;
  const open = oldestOpenAt === null ? window : Date.parse(oldestOpenAt);
  return new Date(Math.min(window, open, Date.parse(baseCut)) - edgeSkewMs).toISOString();
}

/** A payout first sent after this instant must have been created inside the window, whatever the clocks. */
export function sentInside(edge: string): string {
  return new Date(Date.parse(edge) + edgeSkewMs).toISOString();
}

/** How many pages a walk to the edge saves; `older`: rows beyond the edge. 0 for a short list. */
export function pagesSaved(
  order: CreationOrder,
  { older, perPage, lastPage }: { older: number; perPage: number; lastPage: number },
): number {
  // The walk reads the page with the edge and one wholly beyond it; oldest first, page 1 too.
  const read = order === 'newest_first' ? 1 : 2;
  const beyond = Math.min(lastPage - 1, Math.floor(older / Math.max(1, perPage)));
  return Math.max(0, beyond - read);
}

/** The position of a transfer whose `created_at` is unreadable: before every edge, below every cut. */
export const unreadableTime = Number.NEGATIVE_INFINITY;
