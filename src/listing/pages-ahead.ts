import type { Answer, Question } from './listing-ask.ts';
import type { PageMemory } from './listing-memory.ts';

type Deps = { ask(question: Question): Promise<Answer>; concurrency: number };

/** The pages of one walk that were asked for and not heard yet. */
export type PagesAhead = {
  ask(pages: readonly number[]): void;
  /** Asks for the pages after the last one asked for, as many as may be on their way at once. */
  askUpTo(last: number): void;
  /** The answer to a page that was asked for, each once. */
  answer(page: number): Promise<Answer>;
  /** Waits for what is still on its way, and forgets it. */
  rest(): Promise<void>;
};

/** So the service makes the next pages while we read these. */
export function createPagesAhead(
  { ask, concurrency }: Deps,
  { memory, signal }: { memory: PageMemory; signal?: AbortSignal },
): PagesAhead {
  const onTheirWay = new Map<number, Promise<Answer>>();
  let furthest = 0;

  function askFor(page: number, known: Pick<Question, 'recall'>): Promise<Answer> {
    return ask({ page, underWay: true, ...known, ...(signal && { signal }) });
  }

  function askOnce(page: number): void {
    furthest = Math.max(furthest, page);
    if (onTheirWay.has(page)) return;
    const answer = askFor(page, { recall: memory.recall });
    // Whoever waits for it hears of a failure; a page that nobody waits for any more must not end the process.
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
      // What it shows changed while it was on its way: then its rows are needed.
      return !answer || (answer.kind === 'page' && memory.isStale(answer.page)) ? askFor(page, {}) : answer;
    },
    async rest() {
      await Promise.allSettled(onTheirWay.values());
      onTheirWay.clear();
    },
  };
}
