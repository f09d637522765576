import { sql } from 'kysely';
import { growingPause } from '../../core/domain/pause.ts';
import { later } from '../../core/domain/wait.ts';
import { readReasons } from '../../core/ledger/hold-reasons.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { serverMayApprove } from '../../sending/approval.ts';
import { isFree } from '../alerts/outbox.sql.ts';

type Asker = { by: string; at: string };

const firstPauseMs = 60_000;

/** The batches that wait for an approval that the server may give, and may be asked about now. `over`: those with a question that wait no longer. */
async function questionsDue(db: Db | Trx, { by, at }: Asker): Promise<{ due: string[]; over: string[] }> {
  const { rows } = await sql<{ id: string; hold_reasons: string }>`select b.id, b.hold_reasons from batches b
    where b.phase = 'loaded' and b.hold_reasons <> '[]' and exists (select 1 from payout_totals t
      where t.batch_id = b.id and t.n > 0 and (t.state = 'held' or (t.state = 'ready' and b.held = 1)))
    order by b.id`.execute(db);
  const waiting = rows
    .filter((row) => readReasons(row.hold_reasons).some(serverMayApprove))
    .map(({ id }) => id);
  const asked = await db
    .selectFrom('approval_questions')
    .select(['batch_id', 'due_at', 'noted_at', 'rejected_at', isFree(by).as('free')])
    .execute();
  // What was noted by a clock that was ahead is asked at once (P33).
  const resting = asked
    .filter((one) => !Number(one.free) || one.rejected_at !== null || (one.due_at > at && one.noted_at <= at))
    .map(({ batch_id }) => batch_id);
  return {
    due: waiting.filter((id) => !resting.includes(id)),
    over: asked.map(({ batch_id }) => batch_id).filter((id) => !waiting.includes(id)),
  };
}

/** Whether a claim would find or forget something: one cheap read. */
export async function areQuestionsDue(db: Db, asker: Asker): Promise<boolean> {
  const { due, over } = await questionsDue(db, asker);
  return due.length + over.length > 0;
}

/** Claims the next batch to ask about, so that no other process asks, and forgets the questions that are over. */
export async function claimQuestion(trx: Trx, asker: Asker): Promise<string | undefined> {
  const { due, over } = await questionsDue(trx, asker);
  if (over.length > 0) await trx.deleteFrom('approval_questions').where('batch_id', 'in', over).execute();
  const [batch] = due;
  if (batch === undefined) return undefined;
  const { by, at } = asker;
  await trx
    .insertInto('approval_questions')
    .values({ batch_id: batch, digest: '', asked_at: at, claimed_by: by, due_at: at, noted_at: at })
    .onConflict((conflict) => conflict.column('batch_id').doUpdateSet({ claimed_by: by }))
    .execute();
  return batch;
}

/** What became of a question. `again`: the batch changed meanwhile, and is asked about at once. */
export type QuestionEnd = { kind: 'rejected' } | { kind: 'unanswered' | 'again'; problem: string };

/** Records it, where the claim is still this process's. A question about another digest begins with the first pause. */
export async function endQuestion(
  trx: Trx,
  { batch, digest, end, by, at }: Asker & { batch: string; digest: string; end: QuestionEnd },
): Promise<void> {
  const row = await trx
    .selectFrom('approval_questions')
    .select(['digest', 'asked_at', 'tries'])
    .where('batch_id', '=', batch)
    .where('claimed_by', '=', by)
    .executeTakeFirst();
  if (!row) return;
  const isNew = row.digest !== '' && row.digest !== digest;
  const tries = isNew ? 0n : row.tries;
  await trx
    .updateTable('approval_questions')
    .set({
      ...{ digest, claimed_by: null, tries: tries + 1n, asked_at: isNew ? at : row.asked_at, noted_at: at },
      due_at: end.kind === 'again' ? at : later(at, growingPause(firstPauseMs, Number(tries) + 1)),
      ...(end.kind === 'rejected' ? { rejected_at: at } : { problem: end.problem }),
    })
    .where('batch_id', '=', batch)
    .execute();
}
