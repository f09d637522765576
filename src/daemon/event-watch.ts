import type { App } from '../app/app.ts';
import { batchChanges } from '../core/domain/batch-changes.ts';
import { type BatchStanding, batchStandings } from '../core/ledger/batch-states.ts';
import { newestHistory } from '../core/ledger/history.ts';
import { findHaltCauses, type StandingCause } from '../sending/halts.sql.ts';
import { logBatch, logHalt } from './daemon-log.ts';

export type EventWatch = ReturnType<typeof createEventWatch>;

/**
 * Finds events by comparing the ledger with the last look, so that one place logs them whichever process caused them.
 * A batch that passes several states between two looks has all of its events.
 */
export function createEventWatch(app: Pick<App, 'ledger' | 'log'>) {
  const { ledger, log } = app;
  let batches: Map<string, BatchStanding> | undefined;
  let halts = new Map<string, StandingCause>();
  let mark = -1n;
  let last = Promise.resolve();

  async function compare(): Promise<void> {
    const standing = new Map(
      (await findHaltCauses(ledger.db)).map((cause) => [JSON.stringify(cause), cause]),
    );
    for (const [key, cause] of standing) if (!halts.has(key)) logHalt(app, 'halt_raised', cause);
    for (const [key, cause] of halts) if (!standing.has(key)) logHalt(app, 'halt_lifted', cause);
    halts = standing;
    const newest = await newestHistory(ledger.db);
    if (newest === mark) return;
    const before = batches;
    batches = await batchStandings(ledger.db);
    mark = newest;
    if (!before) return;
    for (const [batch, now] of batches)
      for (const change of batchChanges(before.get(batch)?.state, now.state))
        await logBatch(app, `batch_${change}`, { batch, counts: now.counts });
  }
  return {
    /**
     * Logs what happened to batches and halts since the last look, by any process. The first look logs only halts. Never
     * throws: what could not be read is read at the next look.
     */
    look(): Promise<void> {
      last = last
        .then(compare)
        .catch((error: unknown) => log.error({ err: error }, 'events could not be read from the ledger yet'));
      return last;
    },
  };
}
