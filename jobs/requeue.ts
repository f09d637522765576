import type { App } from '../src/app/app.ts';
import { type Queue, QueueAway } from '../src/core/runtime/queue.ts';
import { sendable } from '../src/sending/claims.sql.ts';
import type { KeptReady } from '../src/sending/open-brakes.sql.ts';
import { unappliedWebhooks } from '../src/watching/webhooks/webhooks.sql.ts';
import { fill } from './send-chunk.ts';

export const name = 'requeue';

/** The jobs added, and whether anything may be sent now. */
export type Requeued = { added: string[]; hasWork: boolean };

/**
 * Fills this process's queue and the shared one, if any, from the ledger, so that losing a queue loses
 * nothing. While the shared queue cannot be reached, this process sends by itself. `word` is the schedule's
 * current permission to send; without it no sending job is added.
 */
export async function run(
  app: App<'local'>,
  { own, shared, word }: { own: Pick<Queue, 'add'>; shared: Queue | null; word: string | null },
): Promise<Requeued> {
  const added: string[] = [];
  const add = async (job: string): Promise<void> => {
    // The daemon uses the same id, so the job is queued once.
    if ((await own.add({ name: job, id: job, payload: {} })) === 'added') added.push(job);
  };
  await app.brakes.settle();
  // The submit job asks what is asked before payment, and for the service's clock.
  const asks = (one: KeptReady): boolean =>
    one.kind === 'check' || (one.kind === 'date' && one.clock !== null);
  if (word !== null && (await app.brakes.waits()).some(asks)) await add('submit');
  const hasWork = word !== null && (await mayBeSent(app));
  if (hasWork) {
    const chunks = shared && (await fillShared(app, shared, word));
    if (chunks) added.push(...chunks);
    else await add('submit');
  }
  if ((await unappliedWebhooks(app.ledger.db, 1)).length > 0) await add('apply-webhooks');
  return { added, hasWork };
}

async function mayBeSent(app: App<'local'>): Promise<boolean> {
  const { ready } = await sendable(app.ledger.db, app.brakes.under());
  return ready > 0 || (await app.brakes.unsettled(1)).length > 0;
}

/** Returns null when the shared queue cannot be reached. */
async function fillShared(app: App<'local'>, shared: Queue, word: string): Promise<string[] | null> {
  try {
    return await fill(app, shared, word);
  } catch (error) {
    if (error instanceof QueueAway) return null;
    throw error;
  }
}
