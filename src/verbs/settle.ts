import { z } from 'zod';
import type { App } from '../app/app.ts';
import { foldReference } from '../core/domain/ids.ts';
import { type PayoutState, payoutStates } from '../core/domain/payout.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { mostPayouts } from './retry.ts';
import { verb } from './verb.ts';

/** What is asked about first. A payout that is being sent gets its answer from the request. */
export const askedBeforeSettling = payoutStates.filter((state) => state !== 'sending');

type Standing = { reference: string; state: PayoutState };

/** `changed`: those whose evidence is no longer what was shown; nothing was done about them. */
export type SettleOutcome = { kind: 'settled'; settled: Standing[]; changed: Standing[] };

/** Closes payouts that evidence has not made final; later evidence reopens them (P32). Each is judged alone. */
export const settleVerb = verb({
  name: 'settle',
  can: 'decide',
  touchesMoney: true,
  /** `since`: when the look-up for this decision began, ISO UTC. `digest`: of the evidence that was shown of a payout. */
  input: z.strictObject({
    payouts: z
      .array(z.strictObject({ reference: z.string(), digest: z.string() }))
      .min(1)
      .max(mostPayouts),
    as: z.enum(['success', 'failed']),
    note: z.string().trim().min(1),
    since: z.string(),
  }),
  async run(
    { decisions, reporting }: Pick<App<'local'>, 'decisions' | 'reporting'>,
    { payouts: named, as, note, since },
    { name: person },
  ): Promise<SettleOutcome | Refused> {
    const { payouts, missing } = await decisions.find(named.map(({ reference }) => reference));
    if (missing.length > 0) return refusedFor({ kind: 'no_payout', references: missing });
    const byKey = new Map(payouts.map((one) => [one.reference_key, one]));
    const done: SettleOutcome = { kind: 'settled', settled: [], changed: [] };
    for (const { reference: name, digest } of named) {
      const one = byKey.get(foldReference(name));
      if (!one) continue;
      const { id, reference } = one;
      const decision = await decisions.settle({ ids: [id], since, person, as, note, digest });
      if (decision.kind === 'decided')
        done.settled.push({ reference, state: decision.decided[0]?.state ?? one.state });
      else done.changed.push({ reference, state: decision.now.cases[0]?.payout.state ?? one.state });
    }
    await reporting.writeDueBatchResults();
    await reporting.writeIndex();
    return done;
  },
});
