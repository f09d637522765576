import type { App } from '../../../app/app.ts';
import { payoutOverview } from '../../../books/overview.sql.ts';
import { type BatchCounts, batchCounts } from '../../../core/ledger/batches.ts';
import { findAttention } from '../../../sending/attention.sql.ts';
import type { SubmitOutcome } from '../../../verbs/submit.ts';
import { haltInWords } from '../../../words/halt-words.ts';

export type Submitted = Omit<SubmitOutcome, 'kind'>;
export type TakenFiles = Submitted['taken'][number];
/** Files of expected collections. */
export type ExpectedFile = Submitted['expected'][number];
export type GivenBackFile = Submitted['givenBack'][number];
export type RefusedFile = Extract<TakenFiles, { kind: 'refused' }>;
export type TakenBatch = Extract<TakenFiles, { kind: 'taken' }>;
export type SubmitFacts = Awaited<ReturnType<typeof standing>>;

/** Reads the batches of this run, and what stops payouts, from the ledger. */
export async function standing(app: App<'local'>, { taken, sentFrom, only }: Submitted) {
  const fresh = new Map(taken.flatMap((t) => (t.kind === 'taken' ? [[t.batch, t] as const] : [])));
  const all = await batchCounts(app.ledger.db, only);
  const shown = all.filter(
    ({ batch, state }) =>
      only || fresh.has(batch.id) || sentFrom.has(batch.id) || !['done', 'cancelled'].includes(state),
  );
  const needed = await findAttention(app.ledger.db, only);
  const halted = await haltInWords(app.ledger.db);
  const waits = await app.brakes.waits(only && { batches: only });
  // A halt stops every batch, not only those that this command was given.
  const stands = !halted
    ? 0
    : only
      ? ((await payoutOverview(app.ledger.db)).payouts.ready ?? 0)
      : readyIn(shown);
  return { fresh, shown, needed, halted, waits, stands };
}

export function readyIn(batches: BatchCounts[]): number {
  return batches.reduce((sum, { counts }) => sum + (counts.ready ?? 0), 0);
}
