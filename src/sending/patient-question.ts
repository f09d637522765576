import type { Clock } from '../core/runtime/clock.ts';
import type { RateLimiter } from '../core/runtime/rate-limiter.ts';
import type { ServiceTrouble } from '../core/service/types.ts';

/** What asking again needs. */
export type Patience = { clock: Clock; limiter: Pick<RateLimiter, 'take'> };

const tries = 3;
/** A longer Retry-After is not waited for: the question is asked again in another turn. */
const longestWaitMs = 5000;

/**
 * Asks a question inside the rate limit. After a trouble that may pass it asks up to three times, and honours
 * Retry-After. Undefined where the signal ended it.
 */
export async function patiently<Answer extends { kind: string }>(
  { clock, limiter }: Patience,
  ask: () => Promise<Answer | ServiceTrouble>,
  signal: AbortSignal | undefined,
): Promise<Answer | ServiceTrouble | undefined> {
  for (let attempt = 1; ; attempt++) {
    await limiter.take(signal);
    if (signal?.aborted) return undefined;
    const answer = await ask();
    const trouble = asTrouble(answer);
    if (!trouble || !mayPass(trouble) || attempt === tries) return answer;
    const waitMs = trouble.retryAfterMs ?? attempt * 500;
    if (waitMs > longestWaitMs) return answer;
    await clock.sleep(waitMs, signal);
  }
}

function asTrouble(answer: { kind: string } | ServiceTrouble): ServiceTrouble | undefined {
  return 'reason' in answer ? answer : undefined;
}

function mayPass({ reason }: ServiceTrouble): boolean {
  return reason !== 'not_understood' && reason !== 'unauthorised';
}
