import type { App } from '../src/app/app.ts';

export const name = 'look-up';

/**
 * Makes the look-ups that applied webhooks made due. Only an answer can settle a payout, or confirm that a
 * collection arrived (P14).
 */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number }> {
  const asking = { budget: 500, ...(signal && { signal }) };
  const lookups = await app.lookUps.askDue(asking);
  return { lookups: lookups + (await app.collectionLookUps.askDue(asking)) };
}
