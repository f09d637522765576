import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { type Forbidden, forbiddenPlace } from '../core/domain/forbidden.ts';
import { sendable } from '../sending/claims.sql.ts';
import { findHalt } from '../sending/halts.sql.ts';
import type { CheckProgress } from '../sending/precheck.ts';
import type { PreflightProblem } from '../sending/preflight.ts';
import type { StopCause } from '../sending/progress.ts';
import { batchesSentFrom, newestAttempt } from '../sending/sent-batches.sql.ts';
import type { Refused } from './obstacles.ts';
import { batchesOf, filesInput, type TakeInOutcome, type TakeInParts, takeIn } from './take-in.ts';
import { verb } from './verb.ts';

/** What a face is told while payouts are sent. */
type SendProgress = {
  /** So many payouts may go. */
  onStart?(payouts: number): void;
  /** So many more have been sent. */
  onSent?(count: number): void;
  /** Called while the service is asked about a batch before its first payout. */
  onCheck?(progress: CheckProgress): void;
};
type Parts = App & TakeInParts & SendProgress;

/** The result of sending; `uncleared`: the service did not answer the list request before the first payout. */
export type Sent = StopCause | { ended: 'not_started' } | { ended: 'uncleared'; problem: PreflightProblem };

/**
 * `only`: the batches of the named files; undefined where all that is ready was sent. `sentFrom`: the batches of which
 * something went. `files`: the result files; `unwritten`: why there are none, though what was sent is recorded.
 */
export type SubmitOutcome = Omit<TakeInOutcome, 'kind'> & {
  kind: 'submitted';
  only: string[] | undefined;
  sent: Sent;
  sentFrom: ReadonlySet<string>;
  files: readonly string[];
  unwritten: Forbidden | null;
};

/** Takes files in, sends what is ready, and writes the results. Named files: sends only their batches. */
export const submitVerb = verb({
  name: 'submit',
  can: 'decide',
  touchesMoney: true,
  input: filesInput,
  async run(parts: Parts, order, person): Promise<SubmitOutcome | Refused> {
    const took = await takeIn(parts, { ...order, dryRun: false }, person);
    if (took.kind === 'refused') return took;
    const { ledger, workers } = parts;
    const only = order.files && batchesOf(took.taken);
    const newest = await newestAttempt(ledger.db);
    const sent = await send(parts, only);
    const sentFrom = await batchesSentFrom(ledger.db, workers.id, newest);
    return { ...took, kind: 'submitted', only, sent, sentFrom, ...(await writeResults(parts)) };
  },
});

async function send(parts: Parts, batches: string[] | undefined): Promise<Sent> {
  if (batches?.length === 0) return { ended: 'not_started' };
  const { ledger, brakes, signal, onStart, onSent, onCheck } = parts;
  await parts.takeOver();
  await submitJob.settleBrakes(parts, signal);
  const left = await sendable(ledger.db, { ...(batches && { batches }), ...brakes.under() });
  const halted = await findHalt(ledger.db);
  const unchecked = await brakes.waits(batches && { batches });
  const waiting = unchecked.reduce((sum, one) => sum + (one.kind === 'check' ? one.count : 0), 0);
  if (left.ready + waiting === 0 || halted) return { ended: 'not_started' };
  const cleared = await parts.preflight(signal);
  if (cleared.kind === 'problem') return { ended: 'uncleared', problem: cleared.problem };
  onStart?.(left.ready + waiting);
  const scope = batches && { scope: { batches } };
  return submitJob.run(parts, { ...scope, signal, onProgress: onSent, onCheck });
}

/** Writes the result files. Where they cannot be written, what was sent must still be reported. */
async function writeResults({ reporting }: App): Promise<Pick<SubmitOutcome, 'files' | 'unwritten'>> {
  try {
    const files = await reporting.writeDueBatchResults();
    await reporting.writeIndex();
    return { files, unwritten: null };
  } catch (error) {
    const unwritten = forbiddenPlace(error);
    if (!unwritten) throw error;
    return { files: [], unwritten };
  }
}
