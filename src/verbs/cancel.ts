import { z } from 'zod';
import type { App } from '../app/app.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { type BatchCounts, batchCounts } from '../core/ledger/batches.ts';
import type { HoldScope } from '../core/ledger/hold-reasons.ts';
import type { WeighedCase } from '../watching/evidence/weigh.ts';
import { loadedFor, type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = Pick<App<'local'>, 'ledger' | 'clock' | 'decisions' | 'reporting'>;
type Cancelled = Awaited<ReturnType<Parts['decisions']['cancel']>>;

/** `underWay`: what was sent before. `cases`: the evidence of one payout that is not cancelled. */
export type CancelOutcome =
  | {
      kind: 'batch';
      batch: string;
      state: BatchCounts['state'];
      underWay: BatchCounts['counts'];
      done: Cancelled;
    }
  | { kind: 'payout'; reference: string; state: PayoutState; done: Cancelled; cases: WeighedCase[] };

/** Cancels what was never sent, of a batch or of one payout, and leaves the rest alone (P21). */
export const cancelVerb = verb({
  name: 'cancel',
  can: 'decide',
  touchesMoney: true,
  input: z.union([z.strictObject({ batch: z.string() }), z.strictObject({ reference: z.string() })]),
  async run(parts: Parts, input, { name: person }): Promise<CancelOutcome | Refused> {
    const { ledger, decisions } = parts;
    const reference = 'reference' in input ? input.reference : null;
    const [payout] = reference === null ? [] : (await decisions.find([reference])).payouts;
    if (reference !== null && !payout) return refusedFor({ kind: 'no_payout', references: [reference] });
    const batch = 'batch' in input ? input.batch : (payout?.batch_id ?? '');
    const found = await loadedFor(ledger.db, batch);
    if (found.kind === 'refused') return found;
    if (!payout) return cancelBatch(parts, { batch, person });
    const done = await decisions.cancel({ batch, payout: payout.id, person });
    await writeResults(parts);
    const [now] = await decisions.standingOf([payout.id]);
    const weighed =
      done.cancelled > 0 ? { cases: [] } : await decisions.weigh([payout.id], parts.clock.iso());
    const state = now?.state ?? payout.state;
    return { kind: 'payout', reference: payout.reference, state, done, cases: weighed.cases };
  },
});

/** Cancels what was never sent of a batch. */
export async function cancelBatch(
  parts: Parts,
  order: { batch: string; only?: readonly HoldScope[]; person: string; why?: string },
): Promise<CancelOutcome> {
  const { batch } = order;
  const done = await parts.decisions.cancel(order);
  await writeResults(parts);
  const [now] = await batchCounts(parts.ledger.db, [batch]);
  if (!now) throw new Error(`batch ${batch} is not in the ledger`);
  const { ready: _ready, held: _held, cancelled: _cancelled, ...underWay } = now.counts;
  return { kind: 'batch', batch, state: now.state, underWay, done };
}

async function writeResults({ reporting }: Parts): Promise<void> {
  await reporting.writeDueBatchResults();
  await reporting.writeIndex();
}
