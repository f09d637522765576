import type { Owner } from './world.ts';

/** Something that will happen: `tie` orders what happens at the same time. */
export type Planned = { at: number; tie: number; owner: Owner | null; action: () => void };

/** What is planned, as a binary heap: the earliest first, and no order but that of time and tie. */
export function createAgenda(): { add(event: Planned): void; next(until: number): Planned | undefined } {
  const heap: Planned[] = [];
  const before = (a: Planned, b: Planned): boolean => a.at < b.at || (a.at === b.at && a.tie < b.tie);
  const swap = (i: number, j: number): void => {
    const [a, b] = [heap[i], heap[j]];
    if (a && b) [heap[i], heap[j]] = [b, a];
  };
  const isBefore = (i: number, j: number): boolean => {
    const [a, b] = [heap[i], heap[j]];
    return a !== undefined && b !== undefined && before(a, b);
  };
  return {
    add(event) {
      heap.push(event);
      for (let i = heap.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1;
        if (!isBefore(i, parent)) break;
        swap(i, parent);
        i = parent;
      }
    },
    next(until) {
      const first = heap[0];
      if (!first || first.at > until) return undefined;
      const last = heap.pop();
      if (last && heap.length > 0) heap[0] = last;
      for (let i = 0; ; ) {
        const least = [2 * i + 1, 2 * i + 2].reduce(
          (best, child) => (isBefore(child, best) ? child : best),
          i,
        );
        if (least === i) return first;
        swap(i, least);
        i = least;
      }
    },
  };
}
