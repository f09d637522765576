import type { App } from '../src/app/app.ts';
import type { Job, Queue } from '../src/core/runtime/queue.ts';
import { throughDay } from '../src/sending/claim-request.ts';
import { sendable } from '../src/sending/claims.sql.ts';
import { batchesWithReady, countReady } from '../src/sending/shares.sql.ts';
import { type SubmitResult, run as submit } from './submit.ts';

export const name = 'send-chunk';

/** Payouts in one chunk: few enough that other daemons and batches wait only seconds for their turn. */
const chunkSize = 500;
/** The most chunks of one batch in the queue: this many daemons can work on it. */
const mostChunks = 16;
const mostBatches = 100;

/**
 * Queues ready payouts for the daemons that share the queue. A chunk permits sending so many payouts of a
 * batch and names none: the ledger's claims decide which ones go (P1). `word`: the schedule's permission at
 * the time of queueing. Returns the ids of the jobs that were added.
 */
export async function fill(
  app: Pick<App<'local'>, 'config' | 'ledger' | 'brakes'>,
  queue: Queue,
  word: string,
): Promise<string[]> {
  const { mode } = app.config;
  const added: string[] = [];
  const add = async (job: Job): Promise<void> => {
    if ((await queue.add(job)) === 'added') added.push(job.id);
  };
  const batches = await batchesWithReady(app.ledger.db, app.brakes.under());
  for (const batch of batches.slice(0, mostBatches)) {
    const left = await sendable(app.ledger.db, { batches: [batch], ...app.brakes.under() });
    await Promise.all(chunks({ mode, batch, word }, left.ready, 0).map(add));
  }
  // A chunk without a batch looks up the canaries, so the rest of their batches goes without a person's help.
  if ((await app.brakes.unsettled(1)).length > 0) await add(chunkOf({ mode, batch: '', word }, 0));
  return added;
}

/**
 * Sends one chunk. If the batch has more, queues it again, so that any daemon can take the next chunk.
 * `full`: it ended because it had sent its share.
 */
export async function run(
  app: App,
  payload: Job['payload'],
  { queue, signal }: { queue: Queue; signal: AbortSignal },
): Promise<{ kind: 'not_ours' } | { kind: 'sent'; full: boolean; result: SubmitResult }> {
  const { mode, batch = '', part = 0 } = payload;
  // Jobs from before a move of the ledger or a change of mode may still be queued (P24).
  if (mode !== app.config.mode || typeof batch !== 'string' || typeof part !== 'number')
    return { kind: 'not_ours' };
  const full = new AbortController();
  let done = 0;
  const onProgress = (finished: number): void => {
    done += finished;
    if (done >= chunkSize) full.abort();
  };
  const result = await submit(app, {
    ...(batch !== '' && { scope: { batches: [batch] } }),
    signal: AbortSignal.any([signal, full.signal]),
    onProgress,
  });
  if (!full.signal.aborted || signal.aborted) return { kind: 'sent', full: false, result };
  if (batch !== '') {
    const left = await countReady(app.ledger.db, batch, {
      most: chunkSize * mostChunks,
      day: throughDay(app.brakes.under()),
    });
    // Added all at once: adding them one after the other would take as long as sending many payouts.
    const leave = { mode, batch, word: wordOf(payload) };
    await Promise.all(chunks(leave, left, part + 1).map((job) => queue.add(job)));
  }
  return { kind: 'sent', full: result.ended === 'interrupted' || result.ended === 'drained', result };
}

/** Returns the schedule's permission under which a chunk was queued. */
export function wordOf({ word }: Job['payload']): string {
  return typeof word === 'string' ? word : '';
}

type Leave = { mode: string; batch: string; word: string };

/** Returns the chunks for so many payouts, with ids from `first` on; the id of the running chunk is taken. */
function chunks(leave: Leave, ready: number, first: number): Job[] {
  const count = Math.min(mostChunks - 1, Math.ceil(ready / chunkSize));
  return Array.from({ length: count }, (_, index) => chunkOf(leave, (first + index) % mostChunks));
}

function chunkOf({ mode, batch, word }: Leave, part: number): Job {
  return { name, id: `${mode}-${batch || 'canaries'}-${part}`, payload: { mode, batch, part, word } };
}
