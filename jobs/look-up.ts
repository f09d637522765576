import type { App } from '../src/app/app.ts';

export const name = 'look-up';

/** How many questions one run asks; results are renewed between runs. */
const budget = 500;

/** After a run, look-ups are gathered for so long. Where webhooks stream in, one page of the list then answers many. */
export const gatherMs = 2000;

/**
 * Makes the look-ups that applied webhooks made due. Only an answer can settle a payout, or confirm that a
 * collection arrived (P14). `isLeft`: more has been due for as long as look-ups are gathered.
 */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number; isLeft: boolean }> {
  const asking = { budget, ...(signal && { signal }) };
  const payouts = await app.lookUps.askDue(asking);
  const collections = await app.collectionLookUps.askDue(asking);
  const lookups = payouts + collections;
  const isLeft = lookups > 0 && (collections === budget || (await app.lookUps.isWaiting(gatherMs)));
  return { lookups, isLeft };
}
