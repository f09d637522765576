import type { App } from '../app/app.ts';
import { cameToNothing, type PayoutState } from '../core/domain/payout.ts';
import type { Weighed } from '../watching/evidence/weigh.ts';

/** What `retry` asks about first: a held payout may be held because of an old answer, and a pending one may have ended. */
export const askedBeforeRetry: readonly PayoutState[] = [...cameToNothing, 'unknown', 'held', 'pending'];

/**
 * The evidence of payouts that are in one of these states, after the service was asked about them again (P20). `since`:
 * when that began, ISO UTC.
 */
export async function freshEvidence(
  app: Pick<App, 'applyWebhooks' | 'clock' | 'decisions' | 'lookUps' | 'takeOver'>,
  ids: readonly bigint[],
  { states, signal }: { states: readonly PayoutState[]; signal: AbortSignal },
): Promise<{ shown: Weighed; since: string }> {
  await app.takeOver();
  await app.applyWebhooks(signal);
  const since = app.clock.iso();
  const open = (await app.decisions.standingOf(ids)).filter(({ state }) => states.includes(state));
  if (open.length > 0)
    await app.lookUps.lookUp(
      open.map(({ id }) => id),
      signal,
    );
  return { shown: await app.decisions.weigh(ids, since), since };
}
