import type { App } from '../src/app.ts';

export const name = 'look-up';

/** Asks what applied webhooks made due: only the answer can settle a payout (P14). */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number }> {
  return { lookups: await app.lookUps.askDue({ budget: 500, ...(signal && { signal }) }) };
}
