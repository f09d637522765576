import type { FilteredListPage, PageLink, WireDomain, WireListPage } from '../core/service/wire.ts';
import { type Reply, refused } from './replies.ts';
import { filteredRecord, fullRecord } from './transfer.ts';
import type { Book } from './transfer-book.ts';

export type SandboxListing = ReturnType<typeof createSandboxListing>;

const listable: ReadonlySet<string> = new Set(['pending', 'success', 'failed']);

/**
 * Answers both list endpoints ("List all transfers", "List transfers by status"). Pages count from 1. `base` is the API's
 * address, which page links start with.
 */
export function createSandboxListing(deps: { book: Book; perPage: number; base: () => string }) {
  const { book, perPage } = deps;

  function frame(mode: WireDomain, status: string | undefined, page: number) {
    const total = book.size(mode, status);
    const start = (page - 1) * perPage;
    const rows = book.rows(mode, status, start, perPage);
    const path = `${deps.base()}/fetch_all_transfers${status === undefined ? '' : `/${status}`}`;
    const span = rows.length === 0 ? { from: null, to: null } : { from: start + 1, to: start + rows.length };
    const shape = { current_page: page, per_page: perPage, ...span, total };
    return { rows, path, shape, lastPage: Math.max(1, Math.ceil(total / perPage)) };
  }

  return {
    all(mode: WireDomain, page: number): Reply {
      const { rows, path, shape, lastPage } = frame(mode, undefined, page);
      const urlOf = (number: number): string => `${path}?page=${number}`;
      const prev = page > 1 ? urlOf(page - 1) : null;
      const next = page < lastPage ? urlOf(page + 1) : null;
      const data: WireListPage = {
        ...shape,
        data: rows.map(fullRecord),
        first_page_url: urlOf(1),
        last_page: lastPage,
        last_page_url: urlOf(lastPage),
        links: [
          { url: prev, label: '&laquo; Previous', active: false },
          ...pageLinks(page, lastPage, urlOf),
          { url: next, label: 'Next &raquo;', active: false },
        ],
        next_page_url: next,
        path,
        prev_page_url: prev,
      };
      return envelope(data);
    },
    /** An unknown status is refused with 12, not found. */
    byStatus(mode: WireDomain, status: string, page: number): Reply {
      if (!listable.has(status)) return refused('12');
      const { rows, path, shape, lastPage } = frame(mode, status, page);
      const data = rows.map(filteredRecord);
      return envelope({ ...shape, data, first_page_url: `${path}?page=1`, last_page: lastPage });
    },
  };
}

function envelope(data: WireListPage | FilteredListPage): Reply {
  return { kind: 'json', status: 200, body: { success: true, status: '00', data } };
}

/**
 * All page links when there are few; otherwise the ends and the neighbours, with gaps, so that every page costs the
 * same.
 */
function pageLinks(current: number, lastPage: number, urlOf: (page: number) => string): PageLink[] {
  const wanted = new Set([1, 2, lastPage - 1, lastPage]);
  for (let page = current - 3; page <= current + 3; page += 1) wanted.add(page);
  const pages = [...wanted].filter((page) => page >= 1 && page <= lastPage).sort((a, b) => a - b);
  const links: PageLink[] = [];
  let previous = 0;
  for (const page of pages) {
    if (page > previous + 1) links.push({ url: null, label: '...', active: false });
    links.push({ url: urlOf(page), label: String(page), active: page === current });
    previous = page;
  }
  return links;
}
