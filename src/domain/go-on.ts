import type { Mode } from './payout.ts';

/** The command that sends what is ready in this mode. */
export function submitCommand(mode: Mode): string {
  return mode === 'live' ? 'counterfoil submit --live' : 'counterfoil submit';
}
