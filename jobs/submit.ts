import type { App } from '../src/app/app.ts';
import type { ClaimScope } from '../src/sending/claim-request.ts';
import { sendable } from '../src/sending/claims.sql.ts';
import type { CheckProgress } from '../src/sending/precheck.ts';
import { batchesWithReady } from '../src/sending/shares.sql.ts';

export const name = 'submit';

/** The most look-ups of canaries in one run: a large canary must not use up the time of everything else. */
const questionsARun = 100;
/**
 * How often the files of waiting batches are checked while another batch is sent. No check is older than this
 * when their turn comes (P34).
 */
const lookEveryMs = 60_000;

export type SubmitPayload = {
  scope?: ClaimScope;
  signal?: AbortSignal;
  onProgress?: ((done: number) => void) | undefined;
  /** Called while the service is asked about a batch before its first payout. */
  onCheck?: ((progress: CheckProgress) => void) | undefined;
};
export type SubmitResult = Awaited<ReturnType<App['sender']['run']>> & { tookOver: number };

/** Sends what is ready. First it takes over payouts of dead processes and applies stored webhooks. */
export async function run(
  app: App,
  { scope, signal, onProgress, onCheck }: SubmitPayload = {},
): Promise<SubmitResult> {
  const tookOver = await app.takeOver();
  await settleBrakes(app, signal);
  const send = () =>
    inBatches(app, scope?.batches, () =>
      withFreshLooks(app, signal, (until) =>
        app.sender.run({ ...(scope && { scope }), signal: until, ...(onProgress && { onProgress }) }),
      ),
    );
  let result = await send();
  for (let round = 0; round < 20 && result.ended === 'drained'; round++) {
    // Batches may have been taken in or released in the meantime; their files are checked before they go
    // (P34).
    await app.brakes.settle();
    const checked = await app.prechecks.run({ batches: scope?.batches, signal, onProgress: onCheck });
    const left = await sendable(app.ledger.db, { ...scope, ...app.brakes.under() });
    if (checked.kind === 'more' && !signal?.aborted) {
      // A look at a large batch takes many turns; between them what else is ready goes.
      round -= 1;
      if (left.ready === 0) continue;
    }
    if (left.ready === 0) break;
    const next = await send();
    result = { ...next, counts: addCounts(result.counts, next.counts) };
  }
  return { ...result, tookOver };
}

/** Sends inside a span of each batch that has something ready, where somebody may record it. */
async function inBatches<T extends { ended: string }>(
  app: App,
  only: readonly string[] | undefined,
  send: () => Promise<T>,
): Promise<T> {
  if (!app.traces.isOn) return send();
  const batches = only ?? (await batchesWithReady(app.ledger.db, app.brakes.under()));
  const spans = batches.map((batch) =>
    app.traces.begin({ name: 'batch sending', about: { kind: 'batch', name: batch }, fields: { batch } }),
  );
  let outcome = 'threw';
  try {
    const result = await send();
    outcome = result.ended;
    return result;
  } finally {
    for (const span of spans) span.end({ outcome });
  }
}

/**
 * Runs `work`, and looks at waiting batches meanwhile: at their files, and at the age of looks before payment. A check that fails stops `work` and is
 * thrown; an error of `work` itself comes first.
 */
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
  const until = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const [result] = await Promise.allSettled([work(until)]);
  ended.abort();
  await looks;
  if (result.status === 'rejected') throw result.reason;
  failed.signal.throwIfAborted();
  return result.value;
}

/**
 * Applies webhooks and looks up canaries, so that payouts behind a canary go on, or stop with a reason (P21).
 */
export async function settleBrakes(app: App, signal?: AbortSignal): Promise<void> {
  await app.applyWebhooks(signal);
  const unsettled = await app.brakes.unsettled(questionsARun);
  if (unsettled.length > 0) await app.lookUps.lookUp(unsettled, signal);
  await app.brakes.settle();
  // P38: our clock says that a day of payment has come, and the service's last answer does not: that may be an old one.
  if (await app.brakes.clocksDiffer()) await app.service.listPage(1);
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
