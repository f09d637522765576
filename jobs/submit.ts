import type { App } from '../src/app/app.ts';
import type { Scope } from '../src/sending/claim-request.ts';
import { sendable } from '../src/sending/claims.sql.ts';

export const name = 'submit';

/** Look-ups of canaries in one run: a large canary must not take the place of everything else. */
const questionsARun = 100;
/** While one batch is sent the files of those behind it are looked at so often: no look is older when they begin (P34). */
const lookEveryMs = 60_000;

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
  const send = () =>
    withFreshLooks(app, signal, (until) =>
      app.sender.run({ ...(scope && { scope }), signal: until, ...(onProgress && { onProgress }) }),
    );
  let result = await send();
  for (let round = 0; round < 20 && result.ended === 'drained'; round++) {
    // Batches that were taken in or released meanwhile: their files are looked at before they go (P34).
    await app.brakes.settle();
    const left = await sendable(app.ledger.db, { ...scope, ...app.brakes.under() });
    if (left.ready === 0) break;
    const next = await send();
    result = { ...next, counts: addCounts(result.counts, next.counts) };
  }
  return { ...result, tookOver };
}

/** Runs `work`, and looks at the files of waiting batches meanwhile. A look that fails stops it, and is thrown. */
async function withFreshLooks<T>(
  app: App,
  signal: AbortSignal | undefined,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const failed = new AbortController();
  const look = async (): Promise<void> => {
    for (;;) {
      await app.clock.sleep(lookEveryMs, ended.signal);
      if (ended.signal.aborted) return;
      await app.brakes.settle();
    }
  };
  const looks = look().catch((error: unknown) => failed.abort(error));
  try {
    return await work(AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]));
  } finally {
    ended.abort();
    await looks;
    failed.signal.throwIfAborted();
  }
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
