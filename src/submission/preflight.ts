import type { Mode } from '../domain/payout.ts';
import type { ServiceClient } from '../service/types.ts';

/** Whether this process may send at all; `problem` is one sentence with what to do. */
export type Preflight = { kind: 'clear' } | { kind: 'problem'; problem: string };

/**
 * Before a process's first send: one list page must answer, with our key, and show no other mode's transfers (P24).
 * So a wrong key or an unreachable service is found before any payout is at stake.
 */
export async function preflight(service: ServiceClient, mode: Mode, baseUrl: string): Promise<Preflight> {
  const answer = await service.listPage(1);
  if (answer.kind === 'trouble') {
    if (answer.reason === 'unauthorised') {
      return problem(
        `the service refused the ${mode} key; nothing was sent. Check COUNTERFOIL_${mode.toUpperCase()}_SECRET_KEY (${answer.message})`,
      );
    }
    return problem(
      `the service at ${baseUrl} gave no list; nothing was sent. Check the network and service.base_url (${answer.reason}: ${answer.message})`,
    );
  }
  const foreign = answer.page.items.find((item) => item.domain !== null && item.domain !== mode);
  if (foreign) {
    return problem(
      `mode is ${mode}, but the service lists a ${foreign.domain} transfer (${foreign.id}); nothing was sent. Check which keys are configured`,
    );
  }
  return { kind: 'clear' };
}

function problem(text: string): Preflight {
  return { kind: 'problem', problem: text };
}
