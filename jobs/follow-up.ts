import type { App } from '../src/app/app.ts';
import { countDueUnknown } from '../src/ledger/inquiries.ts';
import { lastRunBegan } from '../src/listing/listings.sql.ts';
import { run as lookUp } from './look-up.ts';

export const name = 'follow_up';

/** More unknowns than this are better answered by one listing than one by one (P19). */
const many = 200;
const betweenListingsMs = 60 * 60_000;
const budget = 2000;
/** How long a run goes on with resend requests that wait for the throttle: the next run takes over from there. */
const resendsForMs = 4 * 60_000;

/**
 * Asks what is due: unknown outcomes on their ladder (P19), payouts that webhooks spoke of, look-ups before a POST. When
 * many are unknown the listing comes first, at most once an hour, and a run asks no more than `many`, the oldest first.
 * Then collections that nobody confirmed yet, and last the resend requests that the throttle kept back; while these wait,
 * look-ups that fall due are made.
 */
export async function run(
  app: App,
  signal?: AbortSignal,
): Promise<{ tookOver: number; applied: number; lookups: number; resends: number }> {
  const tookOver = await app.takeOver();
  const applied = await app.applyWebhooks(signal);
  const { ledger, clock } = app;
  const crowded = (await countDueUnknown(ledger.db, clock.iso())) > many;
  if (crowded) {
    const began = await lastRunBegan(ledger.db);
    if (began === undefined || Math.abs(clock.now() - Date.parse(began)) > betweenListingsMs)
      await app.reconciliation.hear(signal);
  }
  const stop = signal && { signal };
  let lookups = await app.lookUps.askDue({ budget: crowded ? many : budget, ...stop });
  lookups += await app.collectionLookUps.askDue({ budget, ...stop });
  const meanwhile = async (): Promise<void> => {
    lookups += (await lookUp(app, signal)).lookups;
  };
  const resends = await app.resends.askDue({ forMs: resendsForMs, meanwhile, ...stop });
  return { tookOver, applied, lookups, resends };
}
