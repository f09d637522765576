import { plainTrouble } from '../core/domain/run-error.ts';
import type { PreflightProblem } from '../sending/preflight.ts';

/** Why nothing may be sent to this service, in one sentence with what to do. */
export function preflightText(problem: PreflightProblem): string {
  switch (problem.kind) {
    case 'throttled':
      return `the service at ${problem.baseUrl} is asked too often (${problem.message}); nothing was sent. Try again later; a lower service.requests_per_second asks it less often`;
    case 'unauthorised':
      return `the service refused the ${problem.mode} key; nothing was sent. Check COUNTERFOIL_${problem.mode.toUpperCase()}_SECRET_KEY (${problem.message})`;
    case 'no_list':
      return `the service at ${problem.baseUrl} gave no list; nothing was sent. Check the network and service.base_url (${plainTrouble(problem.message)})`;
    case 'other_mode':
      return `mode is ${problem.mode}, but the service lists ${problem.other}; nothing was sent. Check which keys are configured`;
  }
}
