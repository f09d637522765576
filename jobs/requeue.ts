import type { LocalApp } from '../src/app.ts';
import { sendable } from '../src/ledger/claims.ts';
import { unappliedWebhooks } from '../src/ledger/webhooks.ts';
import type { Queue } from '../src/runtime/queue.ts';

export const name = 'requeue';

/** Fills the queue again from the ledger, so that losing the queue loses nothing. Returns the jobs added. */
export async function run(app: LocalApp, queue: Queue): Promise<{ added: string[] }> {
  const { mode } = app.config;
  const added: string[] = [];
  const add = async (job: string): Promise<void> => {
    if ((await queue.add({ name: job, id: `${job}-${mode}`, payload: {} })) === 'added') added.push(job);
  };
  await app.brakes.settle();
  const left = await sendable(app.ledger.db, app.brakes.under());
  // The submit job asks about a canary, so that the rest of its batch goes without anybody's help.
  if (left.ready > 0 || (await app.brakes.unsettled(1)).length > 0) await add('submit');
  if ((await unappliedWebhooks(app.ledger.db, mode, 1)).length > 0) await add('apply-webhooks');
  return { added };
}
