import type { App } from '../src/app/app.ts';
import type { Scope } from '../src/sending/claim-request.ts';
import { sendable } from '../src/sending/claims.sql.ts';

export const name = 'submit';

/** Look-ups of canaries in one run: a large canary must not take the place of everything else. */
const questionsARun = 100;

export type SubmitPayload = {
  scope?: Scope;
  signal?: AbortSignal;
  onProgress?: (done: number) => void;
};
export type SubmitResult = Awaited<ReturnType<App['sender']['run']>> & { tookOver: number };

/**
 * Sends what is ready. First takes over what dead processes left, and applies what webhooks already say.
 */
export async function run(
  app: App,
  { scope, signal, onProgress }: SubmitPayload = {},
): Promise<SubmitResult> {
  const tookOver = await app.takeOver();
  await settleBrakes(app, signal);
  const request = {
    ...(scope && { scope }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  };
  let result = await app.sender.run(request);
  for (let round = 0; round < 20 && result.ended === 'drained'; round++) {
    // Batches that were taken in or released meanwhile: their files are looked at before they go (P34).
    await app.brakes.settle();
    const left = await sendable(app.ledger.db, { ...scope, ...app.brakes.under() });
    if (left.ready === 0) break;
    const next = await app.sender.run(request);
    result = { ...next, counts: addCounts(result.counts, next.counts) };
  }
  return { ...result, tookOver };
}

/** Applies what is heard and asks about canaries, so that what waits for them goes on, or stops with a reason (P21). */
export async function settleBrakes(app: App, signal?: AbortSignal): Promise<void> {
  await app.applyWebhooks(signal);
  const unsettled = await app.brakes.unsettled(questionsARun);
  if (unsettled.length > 0) await app.lookUps.lookUp(unsettled, signal);
  await app.brakes.settle();
}

function addCounts(a: SubmitResult['counts'], b: SubmitResult['counts']): SubmitResult['counts'] {
  return {
    accepted: a.accepted + b.accepted,
    refused: a.refused + b.refused,
    not_sent: a.not_sent + b.not_sent,
    turned_away: a.turned_away + b.turned_away,
    unknown: a.unknown + b.unknown,
  };
}
