import { randomUUID } from 'node:crypto';
import type { App } from '../../app/app.ts';
import { inSpan } from '../../core/domain/trace.ts';
import { readReasons } from '../../core/ledger/hold-reasons.ts';
import { sharedNow } from '../../core/runtime/rates.sql.ts';
import { serverPrefix } from '../../sending/approval.ts';
import { approveVerb, reviewApproval } from '../../verbs/approve.ts';
import type { Refused } from '../../verbs/obstacles.ts';
import { rejectVerb } from '../../verbs/reject.ts';
import type { Person } from '../../verbs/verb.ts';
import { type ApprovalQuestion, askServer, type ServerAnswer } from './approval-question.ts';
import { areQuestionsDue, claimQuestion, endQuestion, type QuestionEnd } from './approval-questions.sql.ts';

/** How often a daemon looks for a batch to ask about. */
const everyMs = 2000;

type Parts = Pick<
  App,
  'ledger' | 'clock' | 'config' | 'decisions' | 'reporting' | 'workers' | 'log' | 'traces'
>;
type Review = Extract<Awaited<ReturnType<typeof reviewApproval>>, { kind: 'may' }>;
type Deps = { stopping: AbortSignal; watched<T>(work: Promise<T>): Promise<T> };

/**
 * Asks the operator's own server about each batch that waits for an approval, one after the other, and does as its answer
 * says. A claim in the ledger decides which process asks. One that dies before it has recorded an answer asks again.
 */
export function createApprovalAsking(app: Parts, { stopping, watched }: Deps): () => Promise<void> {
  const { ledger, clock, config, log, workers } = app;
  const { approval, approvalUrl: url } = config.submission;
  const { secret = '' } = config.events;
  const isOn = approval === 'callback' && url !== '' && secret !== '';
  const name = isOn ? `${serverPrefix}${new URL(url).hostname}` : '';
  const person: Person = { name, accounts: [{ name, uid: null }], noted: name, isServer: true };
  const asker = async () => {
    return { by: workers.id, at: new Date(await sharedNow(ledger.db, clock.now())).toISOString() };
  };

  async function end(batch: string, digest: string, how: QuestionEnd): Promise<void> {
    const order = { ...(await asker()), batch, digest, end: how };
    await ledger.write((trx) => endQuestion(trx, order));
    if (how.kind !== 'rejected' && how.problem !== 'later')
      log.warn({ batch, problem: how.problem }, 'the approval server has not decided yet');
  }

  /** Each decision is a compare-and-set on the digest: one that was given before, or is given twice, does no harm. */
  async function decide(
    { batch: { id: batch }, shown: { digest } }: Review,
    answer: Exclude<ServerAnswer, { kind: 'none' }>,
  ): Promise<Refused | undefined> {
    if (answer.kind === 'yes') {
      const done = await approveVerb.run(app, { batch, digest }, person);
      return done.kind === 'refused' ? done : undefined;
    }
    const reason = answer.reason || 'no reason was given';
    const done = await rejectVerb.run(app, { batch, reason, digest }, person);
    return done.kind === 'refused' ? done : undefined;
  }

  async function ask(batch: string): Promise<void> {
    const review = await reviewApproval(app, batch, person);
    if (review.kind !== 'may') {
      const problem = review.kind === 'refused' ? review.why.kind : review.kind;
      return end(batch, '', { kind: 'unanswered', problem });
    }
    const { digest } = review.shown;
    const to = { url, secret, id: `approval_${randomUUID()}`, now: clock.now, signal: stopping };
    const about = { kind: 'batch' as const, name: batch };
    const answer = await inSpan(
      app.traces,
      { name: 'approval question', about, fields: { batch } },
      {
        work: (traceparent) => askServer(questionOf(review, clock.iso()), { ...to, traceparent }),
        said: ({ kind }) => ({ outcome: kind }),
      },
    );
    // Its claim is free again once this process has ended.
    if (stopping.aborted) return;
    if (answer.kind === 'none') return end(batch, digest, { kind: 'unanswered', problem: answer.problem });
    const refused = await decide(review, answer);
    if (refused)
      return end(batch, digest, {
        kind: refused.why.kind === 'changed' ? 'again' : 'unanswered',
        problem: refused.why.kind,
      });
    log.info({ batch, by: name, answer: answer.kind, digest }, 'the approval server decided');
    if (answer.kind === 'no') await end(batch, digest, { kind: 'rejected' });
  }

  /** Asks until nothing is due. */
  async function askAll(): Promise<void> {
    while (!stopping.aborted) {
      const by = await asker();
      if (!(await areQuestionsDue(ledger.db, by))) return;
      const batch = await ledger.write((trx) => claimQuestion(trx, by));
      if (batch !== undefined) await ask(batch);
    }
  }

  return async () => {
    while (isOn && !stopping.aborted) {
      await watched(askAll()).catch((error: unknown) =>
        log.error({ err: error }, 'the approval server could not be asked'),
      );
      await clock.sleep(everyMs, stopping);
    }
  };
}

function questionOf({ batch, shown }: Review, asked_at: string): ApprovalQuestion {
  const reasons = readReasons(batch.hold_reasons).map(({ kind }) => kind);
  return {
    batch: batch.id,
    digest: shown.digest,
    file: batch.file_name,
    rows: shown.rows,
    totals: shown.totals,
    dropped_by: batch.dropped_by || null,
    hold_reasons: [...new Set(reasons)],
    asked_at,
  };
}
