import type { App } from '../src/app/app.ts';

export const name = 'look-up';

/** How many questions one run asks; results are renewed between runs. */
const budget = 500;

/**
 * Makes the look-ups that applied webhooks made due. Only an answer can settle a payout, or confirm that a
 * collection arrived (P14). `isLeft`: more is due, for the next run.
 */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number; isLeft: boolean }> {
  const asking = { budget, ...(signal && { signal }) };
  const payouts = await app.lookUps.askDue(asking);
  const collections = await app.collectionLookUps.askDue(asking);
  const isLeft = payouts + collections > 0 && (collections === budget || (await app.lookUps.isWaiting()));
  return { lookups: payouts + collections, isLeft };
}
