import type { App } from '../src/app/app.ts';
import { countDueUnknown } from '../src/core/ledger/inquiries.ts';
import { lastRunBegan } from '../src/watching/listing/listings.sql.ts';
import { run as lookUp } from './look-up.ts';

export const name = 'follow_up';

/** With more due unknowns than this, one listing answers better than single look-ups (P19). */
const many = 200;
const betweenListingsMs = 60 * 60_000;
const budget = 2000;
/** How long a run works on resend requests that the throttle delays; the next run continues from there. */
const resendsForMs = 4 * 60_000;

/**
 * Makes the look-ups that are due: unknown outcomes on their ladder (P19), payouts named by webhooks, and
 * look-ups before a POST. With more than `many` unknowns a listing comes first, at most once an hour, and
 * then at most `many` look-ups, the oldest first. Collections without a confirmation follow. Resend requests
 * that the throttle kept back come last; while they wait, newly due look-ups are made.
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
