import type { App } from '../src/app/app.ts';
import { run as lookUp } from './look-up.ts';

export const name = 'apply-webhooks';

/**
 * Applies stored webhooks, then makes the look-ups that they raise: only a look-up can settle a payout (P14).
 */
export async function run(app: App, signal?: AbortSignal): Promise<{ applied: number; lookups: number }> {
  const applied = await app.applyWebhooks(signal);
  const { lookups } = await lookUp(app, signal);
  return { applied, lookups };
}
