import type { PageAnswer, PageQuestion } from './listing-ask.ts';
import type { PageMemory } from './listing-memory.ts';

type Deps = { ask(question: PageQuestion): Promise<PageAnswer>; concurrency: number };

/** The pages of one walk that were requested and not read yet. */
export type PagesAhead = {
  ask(pages: readonly number[]): void;
  /** Requests the pages after the last one requested, up to the allowed number in flight. */
  askUpTo(last: number): void;
  /** The answer to a requested page, once for each. */
  answer(page: number): Promise<PageAnswer>;
  /** Waits for the requests in flight, and forgets them. */
  rest(): Promise<void>;
};

/** Requests pages ahead, so that the service prepares them while we read. */
export function createPagesAhead(
  { ask, concurrency }: Deps,
  { memory, signal }: { memory: PageMemory; signal?: AbortSignal },
): PagesAhead {
  const onTheirWay = new Map<number, Promise<PageAnswer>>();
  let furthest = 0;

  function askFor(page: number, known: Pick<PageQuestion, 'recall'>): Promise<PageAnswer> {
    return ask({ page, underWay: true, ...known, ...(signal && { signal }) });
  }

  function askOnce(page: number): void {
    furthest = Math.max(furthest, page);
    if (onTheirWay.has(page)) return;
    const answer = askFor(page, { recall: memory.recall });
    // The reader of the page gets the failure; a page that nobody reads must not end the process.
    answer.catch(() => undefined);
    onTheirWay.set(page, answer);
  }

  return {
    ask: (pages) => pages.forEach(askOnce),
    askUpTo(last) {
      while (onTheirWay.size < concurrency && furthest < last) askOnce(furthest + 1);
    },
    async answer(page) {
      askOnce(page);
      const answer = await onTheirWay.get(page);
      onTheirWay.delete(page);
      // If its rows changed while it was in flight, read the page itself.
      return !answer || (answer.kind === 'page' && memory.isStale(answer.page)) ? askFor(page, {}) : answer;
    },
    async rest() {
      await Promise.allSettled(onTheirWay.values());
      onTheirWay.clear();
    },
  };
}
