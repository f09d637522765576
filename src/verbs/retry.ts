import { z } from 'zod';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { cameToNothing } from '../core/domain/payout.ts';
import { sendable } from '../sending/claims.sql.ts';
import type { Decision } from '../sending/decisions/retry-payout.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import type { Sent } from './submit.ts';
import { verb } from './verb.ts';

/** The limit of one decision: it is one transaction, and a person does not read more than this. */
export const mostPayouts = 1000;

/** The states in which a payout may be ordered again (P20). */
export const retryable = [...cameToNothing, 'unknown'] as const;
/** What is asked about first: a held payout may be held because of an old answer, and a pending one may have ended. */
export const askedBeforeRetry = [...retryable, 'held', 'pending'] as const;

/** `through`: sends what was decided at once. Without it, the payouts wait for the next submit. */
type Parts = Pick<App<'local'>, 'decisions' | 'reporting'> & {
  through?: App | undefined;
  signal?: AbortSignal;
};

/** `sent`: null where nothing was to be sent now. `states`: where the payouts stand after that. */
export type RetryOutcome =
  | (Extract<Decision, { kind: 'decided' }> & {
      sent: Sent | null;
      states: Awaited<ReturnType<Parts['decisions']['standingOf']>>;
    })
  | Exclude<Decision, { kind: 'decided' }>;

/** Orders payouts again on the evidence that the person saw (P20), and sends them. */
export const retryVerb = verb({
  name: 'retry',
  can: 'decide',
  touchesMoney: true,
  /** `since`: when the look-up for this decision began, ISO UTC. `digest`: of the evidence that was shown. */
  input: z.strictObject({
    references: z.array(z.string()).min(1).max(mostPayouts),
    since: z.string(),
    digest: z.string(),
  }),
  async run(
    { decisions, reporting, through, signal }: Parts,
    { references, since, digest },
    { name: person },
  ): Promise<RetryOutcome | Refused> {
    const { payouts, missing } = await decisions.find(references);
    if (missing.length > 0) return refusedFor({ kind: 'no_payout', references: missing });
    const decision = await decisions.retry({ ids: payouts.map(({ id }) => id), since, digest, person });
    if (decision.kind === 'changed') return decision;
    const ids = decision.decided.map(({ id }) => id);
    const sent = through ? await send(through, ids, signal) : null;
    await reporting.writeDueBatchResults();
    await reporting.writeIndex();
    return { ...decision, sent, states: await decisions.standingOf(ids) };
  },
});

/** Sends only these payouts, as `submit` sends a batch: halts and holds apply, and one list page is read first. */
async function send(app: App, payouts: readonly bigint[], signal: AbortSignal | undefined): Promise<Sent> {
  const { db } = app.ledger;
  const { ready } = await sendable(db, { payouts, ...app.brakes.under() });
  if (ready === 0 || (await findHalt(db))) return { ended: 'not_started' };
  const cleared = await app.preflight(signal);
  if (cleared.kind === 'problem') return { ended: 'uncleared', problem: cleared.problem };
  return submitJob.run(app, { scope: { payouts }, ...(signal && { signal }) });
}
