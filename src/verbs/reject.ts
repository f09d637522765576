import { z } from 'zod';
import type { App } from '../app/app.ts';
import { readReasons } from '../core/ledger/hold-reasons.ts';
import { type CancelOutcome, cancelBatch } from './cancel.ts';
import { livingFor, type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = Pick<App<'local'>, 'ledger' | 'clock' | 'decisions' | 'reporting'>;

/** A second person's no: the batch that waits for an approval is cancelled, and its payouts say why. */
export const rejectVerb = verb({
  name: 'reject',
  can: 'approve',
  touchesMoney: true,
  input: z.strictObject({ batch: z.string(), reason: z.string().trim().min(1).max(2000) }),
  async run(parts: Parts, { batch, reason }, { name: person }): Promise<CancelOutcome | Refused> {
    const found = await livingFor(parts.ledger.db, batch);
    if (found.kind === 'refused') return found;
    const reasons = readReasons(found.batch.hold_reasons);
    if (!reasons.some(({ kind }) => kind === 'approval'))
      return refusedFor({ kind: 'needless', batch, reasons });
    return cancelBatch(parts, { batch, person, why: `rejected by ${person}: ${reason}` });
  },
});
