import type { App } from '../src/app.ts';

export const name = 'follow_up';

/** Asks what is due: unknown outcomes on their ladder (P19), payouts that webhooks spoke of, look-ups before a POST. */
export async function run(
  app: App,
  signal?: AbortSignal,
): Promise<{ tookOver: number; applied: number; lookups: number }> {
  const tookOver = await app.takeOver();
  const applied = await app.applyWebhooks(signal);
  const lookups = await app.lookUps.askDue({ budget: 2000, ...(signal && { signal }) });
  return { tookOver, applied, lookups };
}
