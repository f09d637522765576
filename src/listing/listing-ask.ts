import type { Clock } from '../runtime/clock.ts';
import type { ListPage, RecallPage, ServiceClient, ServiceTrouble } from '../service/types.ts';

export type AskDeps = {
  clock: Clock;
  service: Pick<ServiceClient, 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
};

export type Answer = { kind: 'page'; page: ListPage; askedAt: number } | ServiceTrouble;

/**
 * `underWay`: pages of this pass were read already, so that waiting for one more is worth longer. `recall`: pages whose
 * text need not be read again.
 */
export type Question = {
  page: number;
  status?: 'pending';
  underWay: boolean;
  recall?: RecallPage;
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
 * Asks for one page, again when it fails, before the pass is given up (contract.md): the more often the more pages were
 * read before it, since these would be lost; less where it was asked for in vain until a pass was given up. Retry-After
 * holds for every page that is asked at the same time: the service meant us, not the page.
 */
export function createAsk({ clock, service, limiter }: AskDeps): (question: Question) => Promise<Answer> {
  /** On the monotonic clock. */
  let quietUntil = Number.NEGATIVE_INFINITY;
  let heard = 0;
  const inVain = new Set<number>();
  const triesFor = (page: number): number =>
    inVain.has(page) ? triesAtFirst : Math.min(mostTries, triesAtFirst + Math.floor(Math.log2(1 + heard)));
  return async ({ page, status, underWay, recall, signal }) => {
    if (!underWay) heard = 0;
    for (let tried = 1; ; tried++) {
      const wait = quietUntil - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, signal);
      await limiter.take(signal);
      if (signal?.aborted) return stopped;
      const askedAt = clock.now();
      const answer = await service.listPage(page, status, recall);
      if (answer.kind === 'page') {
        heard += 1;
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
