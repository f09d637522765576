import type { ListPage } from '../../core/service/types.ts';
import type { Sightings } from './sightings.ts';

/**
 * Remembers pages by the digest of their text. A page that returns byte for byte holds the same rows and is not read
 * again. It takes some 200 bytes for a page whose transfers were all new.
 */
export type PageMemory = {
  /** The page without its rows, if each of them is still known with this content; otherwise it must be read. */
  recall(digest: string): ListPage | undefined;
  /** The numbers of the page's transfers in its order; undefined for a page that was not recalled. */
  shownBy(page: ListPage): Uint32Array | undefined;
  keep(page: ListPage, numbers: Uint32Array): void;
  /** True when a row of this recalled page has changed since: the page must be read. */
  isStale(page: ListPage): boolean;
};

/** `numbers`: their count, where they are consecutive from `first`. */
type Kept = { page: Header; first: number; numbers: number | Uint32Array; changes: number };
type Header = Pick<ListPage, 'page' | 'lastPage' | 'perPage' | 'total'>;

export function createPageMemory(sightings: Sightings): PageMemory {
  const kept = new Map<string, Kept>();

  function holds({ first, numbers, changes }: Kept): boolean {
    // Nothing has changed since.
    if (sightings.changes() === changes) return true;
    return numbersOf(first, numbers).every((number) => sightings.changedAt(number) <= changes);
  }

  function recalled(page: ListPage): Kept | undefined {
    return page.digest !== undefined && page.recalled ? kept.get(page.digest) : undefined;
  }

  return {
    recall(digest) {
      const known = kept.get(digest);
      if (!known || !holds(known)) return undefined;
      return { ...known.page, date: null, items: [], digest, recalled: true };
    },
    shownBy(page) {
      const known = recalled(page);
      return known && numbersOf(known.first, known.numbers);
    },
    keep({ digest, page, lastPage, perPage, total }, numbers) {
      if (digest === undefined) return;
      const header = { page, lastPage, perPage, total };
      const first = numbers[0] ?? 0;
      const all = followEachOther(numbers) ? numbers.length : numbers;
      kept.set(digest, { page: header, first, numbers: all, changes: sightings.changes() });
    },
    isStale(page) {
      const known = recalled(page);
      return known !== undefined && !holds(known);
    },
  };
}

function followEachOther(numbers: Uint32Array): boolean {
  const first = numbers[0] ?? 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] !== first + i) return false;
  return true;
}

function numbersOf(first: number, numbers: number | Uint32Array): Uint32Array {
  if (typeof numbers !== 'number') return numbers;
  const all = new Uint32Array(numbers);
  for (let i = 0; i < numbers; i++) all[i] = first + i;
  return all;
}
