import type { App } from '../src/app/app.ts';

export const name = 'look-up';

/** How many questions one run asks; results are renewed between runs. */
const budget = 500;

/** Where webhooks stream in, look-ups are gathered for so long after a run: one page of the list then answers many. */
const gatherMs = 2000;
/** After fewer look-ups than this no stream is to be seen, and the next webhook shall settle its payout within a second. */
const fewestInStream = 3;
const pauseMs = 700;

/**
 * Makes the look-ups that applied webhooks made due. Only an answer can settle a payout, or confirm that a
 * collection arrived (P14). `nextMs`: after how long the next run is due; 0 where more is overdue already.
 */
export async function run(app: App, signal?: AbortSignal): Promise<{ lookups: number; nextMs: number }> {
  const asking = { budget, ...(signal && { signal }) };
  const payouts = await app.lookUps.askDue(asking);
  const collections = await app.collectionLookUps.askDue(asking);
  const lookups = payouts + collections;
  const isLeft = lookups > 0 && (collections === budget || (await app.lookUps.isWaiting(gatherMs)));
  if (isLeft) return { lookups, nextMs: 0 };
  return { lookups, nextMs: lookups < fewestInStream ? pauseMs : gatherMs };
}
