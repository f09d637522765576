import { z } from 'zod';
import * as reconcileJob from '../../jobs/reconcile.ts';
import type { App } from '../app/app.ts';
import { endByError, endWith } from '../core/runtime/scheduler.ts';
import { tryReconcile } from '../core/runtime/worker-lock.ts';
import type { Lock } from '../core/storage/locks.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = App & { signal: AbortSignal };
type Order = Omit<reconcileJob.ReconcilePayload, 'signal'>;

export type ReconcileOutcome = { kind: 'reconciled'; run: reconcileJob.ReconcileResult };

/** Compares the ledger with the service once. It may end what keeps payouts from being sent (P16, P25). */
export const reconcileVerb = verb({
  name: 'reconcile',
  can: 'decide',
  touchesMoney: true,
  /** `full`: reads the whole list. `followUp`: looks up what the list leaves open, and asks for webhooks again. */
  input: z.strictObject({ full: z.boolean(), followUp: z.boolean() }),
  async run(parts: Parts, order): Promise<ReconcileOutcome | Refused> {
    const begun = await beginReconcile(parts, order);
    return begun.kind === 'refused' ? begun : { kind: 'reconciled', run: await begun.ended };
  },
});

/** Begins the run, for a face that does not wait for its end. */
export async function beginReconcile(
  parts: Parts,
  order: Order,
): Promise<{ kind: 'begun'; ended: Promise<reconcileJob.ReconcileResult> } | Refused> {
  const { jobsStore, clock, workers } = parts;
  const lock = await tryReconcile(parts.ledger);
  if (!lock) return refusedFor({ kind: 'reconciling' });
  const startedAt = clock.iso();
  // Recorded before the answer, so that the page after it shows the run.
  try {
    await jobsStore.note(jobOf(order), { at: startedAt, by: workers.id, expression: null });
  } catch (error) {
    await lock.release();
    throw error;
  }
  return { kind: 'begun', ended: runUnder(lock, parts, { ...order, startedAt }) };
}

const jobOf = ({ full }: Order): string => (full ? reconcileJob.fullName : reconcileJob.name);

async function runUnder(
  lock: Lock,
  parts: Parts,
  order: Order & { startedAt: string },
): Promise<reconcileJob.ReconcileResult> {
  try {
    return await runRecorded(parts, order);
  } finally {
    await lock.release();
  }
}

/** Runs the job, and records its end among the jobs as the scheduler does. */
async function runRecorded(
  parts: Parts,
  { startedAt, ...order }: Order & { startedAt: string },
): Promise<reconcileJob.ReconcileResult> {
  const { jobsStore, clock, signal } = parts;
  const job = jobOf(order);
  const ended = (end: ReturnType<typeof endWith>): Promise<void> =>
    jobsStore.finished(job, { startedAt, endedAt: clock.iso(), ...end });
  try {
    const run = await reconcileJob.run(parts, { ...order, signal });
    await ended(endWith(reconcileJob.outcomeOf(run)));
    return run;
  } catch (error) {
    // Where the ledger failed, this record may fail too; the first error is the one to report.
    await ended(endByError(error)).catch(() => undefined);
    throw error;
  }
}
