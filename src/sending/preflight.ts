import type { Mode } from '../core/domain/payout.ts';
import type { Clock } from '../core/runtime/clock.ts';
import { otherMode } from '../core/service/pages.ts';
import type { ServiceClient } from '../core/service/types.ts';

/** Whether this process may send at all. */
export type Preflight = { kind: 'clear' } | { kind: 'problem'; problem: PreflightProblem };

/** Why it may not, for `words/preflight-words.ts`. `message`: what came back instead of a list. */
export type PreflightProblem =
  | { kind: 'throttled' | 'no_list'; baseUrl: string; message: string }
  | { kind: 'unauthorised'; mode: Mode; message: string }
  | { kind: 'other_mode'; mode: Mode; other: string };

type Deps = { service: Pick<ServiceClient, 'listPage'>; clock: Clock; mode: Mode; baseUrl: string };

/** The longest total wait for a busy service, as before a POST. */
const longestWaitMs = 60_000;
const usualWaitMs = 2000;

/**
 * Checks the service before a process's first send: it must answer one list page with our key, and show no transfers of
 * the other mode (P24). So a wrong key or an unreachable service is found before any payout is at risk.
 */
export async function preflight(deps: Deps, signal?: AbortSignal): Promise<Preflight> {
  const { mode, baseUrl } = deps;
  const answer = await firstPage(deps, signal);
  if (answer.kind === 'trouble') {
    const { reason, message } = answer;
    if (reason === 'unauthorised') return problem({ kind: reason, mode, message });
    return problem({ kind: reason === 'throttled' ? reason : 'no_list', baseUrl, message });
  }
  const other = otherMode(answer.page, mode);
  if (other !== undefined) return problem({ kind: 'other_mode', mode, other });
  return { kind: 'clear' };
}

/** Reads the first page; asks again while the service only says that it is busy. */
async function firstPage(
  { service, clock }: Deps,
  signal?: AbortSignal,
): ReturnType<Deps['service']['listPage']> {
  const until = clock.monotonic() + longestWaitMs;
  for (;;) {
    const answer = await service.listPage(1);
    if (answer.kind === 'page' || answer.reason !== 'throttled') return answer;
    // A Retry-After of zero counts as none: else this would ask as fast as the service answers.
    const waitMs = answer.retryAfterMs || usualWaitMs;
    if (signal?.aborted || clock.monotonic() + waitMs > until) return answer;
    await clock.sleep(waitMs, signal);
  }
}

function problem(what: PreflightProblem): Preflight {
  return { kind: 'problem', problem: what };
}
