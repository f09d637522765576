import type { App } from '../src/app/app.ts';

export const name = 'look-up';

/** Asks what applied webhooks made due: only the answer can settle a payout, or show that a collection arrived (P14). */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number }> {
  const asking = { budget: 500, ...(signal && { signal }) };
  const lookups = await app.lookUps.askDue(asking);
  return { lookups: lookups + (await app.collectionLookUps.askDue(asking)) };
}
