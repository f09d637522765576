import { z } from 'zod';
import type { App } from '../app/app.ts';
import type { Decision } from '../sending/decisions/retry-payout.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

/** The limit of one decision: it is one transaction, and a person does not read more than this. */
export const mostPayouts = 1000;

/** Orders payouts again on the evidence that the person saw (P20). Nothing is sent yet. */
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
    { decisions }: Pick<App<'local'>, 'decisions'>,
    { references, since, digest },
    { name: person },
  ): Promise<Decision | Refused> {
    const { payouts, missing } = await decisions.find(references);
    if (missing.length > 0) return refusedFor({ kind: 'no_payout', references: missing });
    return decisions.retry({ ids: payouts.map(({ id }) => id), since, digest, person });
  },
});
