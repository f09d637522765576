import type * as submitJob from '../../../../jobs/submit.ts';
import type { App } from '../../../app/app.ts';
import { payoutOverview } from '../../../books/overview.sql.ts';
import { type BatchCounts, batchCounts } from '../../../core/ledger/batches.ts';
import { findAttention } from '../../../sending/attention.sql.ts';
import { haltInWords } from '../../../words/halt-words.ts';

export type TakenFiles = Awaited<ReturnType<App<'local'>['intake']['takeFiles']>>['taken'][number];
/** The result of sending; `uncleared`: the service did not answer the list request before the first payout. */
export type Sent =
  | Pick<Awaited<ReturnType<typeof submitJob.run>>, 'ended' | 'detail' | 'advice'>
  | { ended: 'not_started' | 'uncleared'; detail: string };

/** Files of expected collections. */
export type GivenBackFile = Awaited<ReturnType<App<'local'>['intake']['takeFiles']>>['givenBack'][number];
export type ExpectedFile = Awaited<ReturnType<App<'local'>['intake']['takeCollections']>>['taken'][number];

/** `unwritten`: why the result files could not be written, though the recorded payouts were sent. */
export type Submitted = {
  taken: TakenFiles[];
  expected: ExpectedFile[];
  /** Rows that a dead process left out, returned now. */
  givenBack: GivenBackFile[];
  sent: Sent;
  sentFrom: ReadonlySet<string>;
  only: string[] | undefined;
  unwritten?: string | undefined;
  files: readonly string[];
};

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
