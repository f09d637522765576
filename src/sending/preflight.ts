import type { Mode } from '../core/domain/payout.ts';
import { plainTrouble } from '../core/domain/run-error.ts';
import type { Clock } from '../core/runtime/clock.ts';
import { otherMode } from '../core/service/pages.ts';
import type { ServiceClient } from '../core/service/types.ts';

/** Whether this process may send at all; `problem` is one sentence with what to do. */
export type Preflight = { kind: 'clear' } | { kind: 'problem'; problem: string };

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
    if (answer.reason === 'throttled') {
      return problem(
        `the service at ${baseUrl} is asked too often (${answer.message}); nothing was sent. Try again later; a lower service.requests_per_second asks it less often`,
      );
    }
    if (answer.reason === 'unauthorised') {
      return problem(
        `the service refused the ${mode} key; nothing was sent. Check COUNTERFOIL_${mode.toUpperCase()}_SECRET_KEY (${answer.message})`,
      );
    }
    return problem(
      `the service at ${baseUrl} gave no list; nothing was sent. Check the network and service.base_url (${plainTrouble(answer.message)})`,
    );
  }
  const other = otherMode(answer.page, mode);
  if (other !== undefined) {
    return problem(
      `mode is ${mode}, but the service lists ${other}; nothing was sent. Check which keys are configured`,
    );
  }
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

function problem(text: string): Preflight {
  return { kind: 'problem', problem: text };
}
