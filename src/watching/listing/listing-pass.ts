import {
  type CreationOrder,
  createOrderWatch,
  type ListOrder,
  pagesSaved,
  unreadableTime,
} from '../../core/domain/list-order.ts';
import { type StagedTransfer, shownFields } from '../../core/domain/listed-transfer.ts';
import { readInstant } from '../../core/domain/witness.ts';
import type { ListPage } from '../../core/service/types.ts';
import type { Overlap, Pass } from './completeness.ts';
import type { PageAnswer, PageQuestion } from './listing-ask.ts';
import type { PageMemory } from './listing-memory.ts';
import { createPagesAhead } from './pages-ahead.ts';
import type { Sightings } from './sightings.ts';

/** How far a pass walks: over everything, or to an edge beyond which the base listing holds `older` rows (P29). */
export type Reach = { kind: 'whole' } | { kind: 'window'; order: CreationOrder; edge: string; older: number };

/** A pass without a first page has no cut and no total. `reach`: how far it walked; a window whose order broke is whole. */
export type PassResult =
  | { kind: 'pass'; pass: Pass; overlap: Overlap; reach: Reach; order: ListOrder | null; oldest: string }
  | { kind: 'no_pass'; trouble: string };

export type PassDeps = {
  ask(question: PageQuestion): Promise<PageAnswer>;
  store(pass: number, rows: StagedTransfer[]): Promise<void>;
  /** Waits until the service's clock shows another second. */
  nextSecond(): Promise<void>;
  concurrency: number;
};
export type PassOptions = {
  number: number;
  sightings: Sightings;
  memory: PageMemory;
  reach: Reach;
  /** The cut of the pass before, which this one must agree with. */
  earlierCut: string | null;
  /** The list keeps changing: rows that moved are searched at both ends. */
  restless: boolean;
  signal?: AbortSignal;
};

/** Rows gathered before a write: several pages a transaction. */
const groupRows = 4_000;

/** What some pages brought: rows new to this pass, one page wholly beyond the edge, or no row at all. */
type News = { fresh: boolean; beyond: boolean; empty: boolean };
type Counts = { below: number; ahead: number } & Overlap;
type Walk = {
  cut: string;
  first: ListPage;
  lastPage: number;
  /** The last page of the shortest list that any page of this pass reported. */
  endsAt: number;
  perPageChanged: boolean;
  trouble: string | null;
  /** Where a row without an id was: the pass proves nothing, but its other rows count. */
  nameless: string | null;
  all: Counts;
  /** The same counts for rows inside the edge. */
  inside: Counts;
  /** When the oldest row was created, in ms since the epoch; infinite until a row comes. */
  oldest: number;
  gathered: StagedTransfer[];
};

/** Walks over the pages once (P28); the last page may move during the walk, within bounds. */
export async function onePass(deps: PassDeps, options: PassOptions): Promise<PassResult> {
  const { number, sightings, memory, signal } = options;
  const watch = createOrderWatch();
  let reach = options.reach;
  const edge = reach.kind === 'window' ? Date.parse(reach.edge) : unreadableTime;
  const earlierCut = options.earlierCut === null ? unreadableTime : Date.parse(options.earlierCut);
  // Read from the end, page 1 counts last, and its rows may have changed by then.
  const known = reach.kind === 'whole' ? { recall: memory.recall } : {};
  const question = { page: 1, underWay: false, ...known, ...(signal && { signal }) };
  let opening = await deps.ask(question);
  if (opening.kind === 'page' && showsThisSecond(opening.page)) {
    await deps.nextSecond();
    opening = await deps.ask(question);
  }
  if (opening.kind === 'trouble') {
    const prefix = opening.reason === 'unauthorised' ? 'the service refused the key: ' : 'page 1: ';
    return { kind: 'no_pass', trouble: `${prefix}${opening.message}` };
  }
  const first = opening.page;
  if (reach.kind === 'whole') sightings.expect(first.total);
  const walk: Walk = {
    cut: new Date(first.date ?? opening.askedAt - 1_000).toISOString(),
    first,
    lastPage: first.lastPage,
    endsAt: first.lastPage,
    perPageChanged: false,
    trouble: null,
    nameless: null,
    all: { below: 0, ahead: 0, later: 0, both: 0 },
    inside: { below: 0, ahead: 0, later: 0, both: 0 },
    oldest: Number.POSITIVE_INFINITY,
    gathered: [],
  };
  const cut = Date.parse(walk.cut);
  const pages = createPagesAhead(deps, { memory, ...(signal && { signal }) });
  const furthest = 2 * first.lastPage + 100;
  if (reach.kind === 'window' && pagesSaved(reach.order, { ...reach, ...first }) < 1)
    reach = { kind: 'whole' };
  const backwards = reach.kind === 'window' && reach.order === 'oldest_first';

  /** Counts and gathers a page's rows in the order of the walk. */
  function countPage(page: ListPage, ordered: boolean): News {
    const recalled = memory.shownBy(page);
    const numbers = recalled ?? new Uint32Array(page.items.length);
    const empty = numbers.length === 0 && !page.nameless;
    let fresh = false;
    let beyond = numbers.length > 0;
    for (let i = 0; i < numbers.length; i++) {
      const at = backwards ? numbers.length - 1 - i : i;
      const before = recalled ? sightings.seeAgain(recalled[at] ?? 0, number) : see(page, at, numbers);
      const createdAt = sightings.createdAt(numbers[at] ?? 0);
      if (createdAt === unreadableTime || createdAt >= edge) beyond = false;
      if (before === number) continue;
      fresh = true;
      if (ordered) watch.row(createdAt);
      if (createdAt !== unreadableTime && createdAt < walk.oldest) walk.oldest = createdAt;
      count(walk.all, createdAt, before);
      if (createdAt >= edge && createdAt !== unreadableTime) count(walk.inside, createdAt, before);
    }
    if (page.nameless)
      walk.nameless ??= `page ${page.page}: a transfer without an id; ask the service what it is`;
    else if (!recalled) memory.keep(page, numbers);
    return { fresh, beyond, empty };
  }

  /** Counts one row of a page; returns the last earlier pass that showed its transfer. */
  function see(page: ListPage, at: number, numbers: Uint32Array): number {
    const item = page.items[at];
    if (!item) return number;
    const row = { fields: shownFields(item), createdAt: readInstant(item.created_at) ?? unreadableTime };
    const sighting = sightings.see(item.id, row, number);
    if (sighting.content !== 'same') walk.gathered.push({ ...item, print: sighting.print });
    numbers[at] = sighting.number;
    return sighting.before;
  }

  function count(counts: Counts, createdAt: number, before: number): void {
    if (createdAt <= cut) counts.below++;
    else counts.ahead++;
    if (options.earlierCut === null || createdAt > earlierCut) return;
    counts.later++;
    if (before === number - 1) counts.both++;
  }

  /** Reads these pages in order; `beyond` when one of them is wholly beyond the edge. */
  async function group(numbers: number[], ordered = true): Promise<News> {
    const news: News = { fresh: false, beyond: false, empty: true };
    pages.ask(numbers);
    for (const page of numbers) {
      const answer = await pages.answer(page);
      // In a full walk, the next pages are requested while these are read; a short cut would request too much.
      if (ordered && reach.kind === 'whole' && !backwards) pages.askUpTo(end());
      if (answer.kind === 'trouble') {
        // A list that shrank may lack such a page; the count shows whether anything is missing.
        if (page <= walk.endsAt || answer.reason !== 'not_understood')
          walk.trouble ??= `page ${page}: ${answer.message}`;
        continue;
      }
      walk.lastPage = Math.max(walk.lastPage, answer.page.lastPage);
      walk.endsAt = Math.min(walk.endsAt, answer.page.lastPage);
      walk.perPageChanged ||= answer.page.perPage !== first.perPage;
      const one = countPage(answer.page, ordered);
      news.fresh ||= one.fresh;
      news.beyond ||= one.beyond;
      news.empty &&= one.empty;
    }
    await flush(groupRows);
    return news;
  }

  async function flush(atLeast: number): Promise<void> {
    if (walk.gathered.length < atLeast) return;
    const rows = walk.gathered;
    walk.gathered = [];
    await deps.store(number, rows);
  }

  const end = (): number => Math.min(walk.lastPage, furthest);

  /** Pages 2 to the last, or from the last one back. A short cut stops beyond its edge while the order holds. */
  async function throughPages(): Promise<void> {
    // Oldest first, the walk from the end leaves out page 1; it counts last, so that the order is unbroken.
    if (!backwards) countPage(first, true);
    let beyond = false;
    let empty = false;
    const done = (): boolean => {
      // The list ends where its pages are empty, whatever last_page says; the count shows whether that is all.
      if (walk.trouble !== null || empty) return true;
      if (reach.kind !== 'window') return false;
      if (!watch.held('newest_first')) reach = { kind: 'whole' };
      return reach.kind === 'window' && beyond;
    };
    const many = (next: number, target: number): number =>
      reach.kind === 'whole' ? deps.concurrency : Math.min(deps.concurrency, Math.abs(target - next) + 1);
    if (backwards) {
      for (let next = end(), from = 0; next >= 2 && !done(); next = from - 1) {
        from = Math.max(2, next - many(next, Math.min(next, target())) + 1);
        ({ beyond, empty } = await group(range(next, from)));
      }
      countPage(first, reach.kind === 'whole');
      return;
    }
    for (let next = 2, to = 0; next <= end() && !done(); next = to + 1) {
      to = Math.min(end(), next + many(next, Math.max(next, target())) - 1);
      ({ beyond, empty } = await group(range(next, to)));
    }
  }

  /** The page expected to be the first wholly beyond the edge: requesting further pages would save nothing. */
  function target(): number {
    if (reach.kind === 'whole') return 0;
    const perPage = Math.max(1, first.perPage);
    if (reach.order === 'oldest_first') return Math.max(2, Math.floor(reach.older / perPage));
    return Math.ceil(Math.max(0, first.total - reach.older) / perPage) + 1;
  }

  /** Reads both ends again while they bring news: a row that moved during the walk is at one end now. */
  async function readEndsAgain(): Promise<void> {
    const short = (): boolean => walk.trouble === null && walk.all.below < first.total;
    for (let page = 1; page <= end() && short(); page++) if (!(await group([page], false)).fresh) break;
    for (let page = end(); page > 1 && short(); page--) if (!(await group([page], false)).fresh) break;
  }

  /** Read from the end, the list's own order is the reverse of the observed one. */
  function seenOrder(): ListOrder | null {
    const seen = watch.seen();
    if (!backwards || seen === null || seen === 'other') return seen;
    return seen === 'newest_first' ? 'oldest_first' : 'newest_first';
  }

  await throughPages();
  await pages.rest();
  if (reach.kind === 'whole' && options.restless) await readEndsAgain();
  await flush(1);
  const counts = reach.kind === 'whole' ? walk.all : walk.inside;
  const older = reach.kind === 'whole' ? 0 : reach.older;
  const pass = {
    cut: walk.cut,
    total: first.total,
    belowCut: counts.below + older,
    aheadOfCut: counts.ahead,
    perPageChanged: walk.perPageChanged,
    trouble: walk.trouble ?? walk.nameless,
  };
  const overlap = { later: counts.later + older, both: counts.both + older };
  return { kind: 'pass', pass, overlap, reach, order: seenOrder(), oldest: oldestText(walk.oldest) };
}

/** True where a row is younger than the page's `Date`, which has whole seconds: no pass from this page is sound (P28). */
function showsThisSecond({ date, items }: ListPage): boolean {
  if (date === null) return false;
  return items.some((item) => {
    const ahead = (readInstant(item.created_at) ?? date) - date;
    return ahead > 0 && ahead < 1_000;
  });
}

function oldestText(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : '';
}

/** Page numbers from one to the other, both included, in either direction. */
function range(from: number, to: number): number[] {
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + i * step);
}
