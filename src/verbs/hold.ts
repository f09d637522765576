import { z } from 'zod';
import { type BatchCounts, batchCounts } from '../core/ledger/batches.ts';
import { areHoldingAll, holdReasonsOf } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { holdBatch } from '../sending/holds.sql.ts';
import { loadedFor, type Refused } from './obstacles.ts';
import { orderSource, verb } from './verb.ts';

/** `underWay`: what the brake no longer reaches. `ended`: a release that saw this hold has ended it meanwhile. */
export type HoldOutcome = {
  kind: 'held';
  batch: string;
  moved: number;
  underWay: BatchCounts['counts'];
  ended: boolean;
};

/** The brake of one batch (P21). */
export const holdVerb = verb({
  name: 'hold',
  can: 'decide',
  touchesMoney: true,
  input: z.strictObject({ batch: z.string() }),
  async run(
    { ledger, clock }: { ledger: Ledger; clock: Pick<Clock, 'iso'> },
    { batch },
    person,
  ): Promise<HoldOutcome | Refused> {
    const found = await loadedFor(ledger.db, batch);
    if (found.kind === 'refused') return found;
    const order = {
      batch,
      reason: { kind: 'person' } as const,
      at: clock.iso(),
      source: orderSource(person),
    };
    const moved = await holdBatch(ledger, order);
    const [now] = await batchCounts(ledger.db, [batch]);
    const { ready: _ready, held: _held, ...underWay } = now?.counts ?? {};
    // A release that saw this hold may have ended it before all of its transactions were made.
    const ended = !areHoldingAll((await holdReasonsOf(ledger.db, batch)).reasons);
    return { kind: 'held', batch, moved, underWay, ended };
  },
});
