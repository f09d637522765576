import type { Sightings } from '../domain/sightings.ts';
import type { ListPage } from '../service/types.ts';

/**
 * Pages as a listing read them, by the digest of their text: a page that comes again byte for byte shows what it
 * showed, and is not read again. Some 500 bytes a page of fifty.
 */
export type PageMemory = {
  /** The page without its rows, while each of them is known as it shows it; else it must be read. */
  recall(digest: string): ListPage | undefined;
  /** The numbers of the page's transfers in its order; undefined for a page that was not recalled. */
  shownBy(page: ListPage): Uint32Array | undefined;
  keep(page: ListPage, numbers: Uint32Array): void;
  /** True when a row of this recalled page was shown otherwise since: what it says now must be read. */
  isStale(page: ListPage): boolean;
};

type Kept = { page: ListPage; numbers: Uint32Array; changes: number };

export function createPageMemory(sightings: Sightings): PageMemory {
  const kept = new Map<string, Kept>();

  function holds({ numbers, changes }: Kept): boolean {
    return numbers.every((number) => sightings.changedAt(number) <= changes);
  }

  function recalled(page: ListPage): Kept | undefined {
    return page.digest !== undefined && page.recalled ? kept.get(page.digest) : undefined;
  }

  return {
    recall(digest) {
      const known = kept.get(digest);
      return known && holds(known) ? known.page : undefined;
    },
    shownBy: (page) => recalled(page)?.numbers,
    keep(page, numbers) {
      if (page.digest === undefined) return;
      const header = { ...page, items: [], recalled: true as const };
      kept.set(page.digest, { page: header, numbers, changes: sightings.changes() });
    },
    isStale(page) {
      const known = recalled(page);
      return known !== undefined && !holds(known);
    },
  };
}
