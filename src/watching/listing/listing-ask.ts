import type { Clock } from '../../core/runtime/clock.ts';
import type { ListPage, RecallPage, ServiceClient, ServiceTrouble } from '../../core/service/types.ts';

export type AskDeps = {
  clock: Clock;
  service: Pick<ServiceClient, 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
};

export type PageAnswer = { kind: 'page'; page: ListPage; askedAt: number } | ServiceTrouble;

/**
 * `underWay`: this pass has read pages already, so that waiting for one more is worth longer. `recall`: recognises
 * pages whose text need not be read again.
 */
export type PageQuestion = {
  page: number;
  status?: 'pending';
  underWay: boolean;
  recall?: RecallPage;
  /** The run that asks. */
  run?: string;
  signal?: AbortSignal;
};

const triesAtFirst = 5;
const mostTries = 12;
const firstWaitMs = 500;
const longestBackOffMs = 60_000;
const longestWaitMs = 15 * 60_000;

const stopped: ServiceTrouble = {
  kind: 'trouble',
  reason: 'unreachable',
  message: 'interrupted',
  httpStatus: null,
  retryAfterMs: null,
};

/**
 * Requests one page, and repeats the request when it fails, before the pass is given up. The number of tries grows with
 * the pages already read, which a failure would waste. It is small for a page that made an earlier pass fail. Retry-After
 * holds for every page requested at the same time: it concerns the client, not the page.
 */
export function createAsk({
  clock,
  service,
  limiter,
}: AskDeps): (question: PageQuestion) => Promise<PageAnswer> {
  /** On the monotonic clock. */
  let quietUntil = Number.NEGATIVE_INFINITY;
  let pagesRead = 0;
  const inVain = new Set<number>();
  const triesFor = (page: number): number =>
    inVain.has(page)
      ? triesAtFirst
      : Math.min(mostTries, triesAtFirst + Math.floor(Math.log2(1 + pagesRead)));
  return async ({ page, status, underWay, recall, run, signal }) => {
    if (!underWay) pagesRead = 0;
    for (let tried = 1; ; tried++) {
      const wait = quietUntil - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, signal);
      await limiter.take(signal);
      if (signal?.aborted) return stopped;
      const askedAt = clock.now();
      const answer = await service.listPage(page, status, recall, run);
      if (answer.kind === 'page') {
        pagesRead += 1;
        inVain.delete(page);
        return { ...answer, askedAt };
      }
      if (answer.reason === 'unauthorised') return answer;
      if (tried >= triesFor(page)) {
        inVain.add(page);
        return answer;
      }
      const backOff = Math.min(firstWaitMs * 2 ** (tried - 1), longestBackOffMs);
      if (answer.retryAfterMs === null) await clock.sleep(backOff, signal);
      else
        quietUntil = Math.max(quietUntil, clock.monotonic() + Math.min(answer.retryAfterMs, longestWaitMs));
    }
  };
}
