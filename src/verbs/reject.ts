import { z } from 'zod';
import type { App } from '../app/app.ts';
import { isRejectable, readReasons } from '../core/ledger/hold-reasons.ts';
import { claimRejection, readApprovable } from '../sending/approvals.sql.ts';
import { type CancelOutcome, cancelBatch } from './cancel.ts';
import { livingFor, type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = Pick<App<'local'>, 'ledger' | 'clock' | 'decisions' | 'reporting'>;

/**
 * A second person's no: the batch that waits for an approval is cancelled, and its payouts say why (P2). Where only changed
 * rows or second payments of it wait, only they are (P20, P37).
 */
export const rejectVerb = verb({
  name: 'reject',
  can: 'approve',
  touchesMoney: true,
  /** `digest`: what the person saw; with it, the batch must still be that. */
  input: z.strictObject({
    batch: z.string(),
    reason: z.string().trim().min(1).max(2000),
    digest: z.string().exactOptional(),
  }),
  async run(parts: Parts, { batch, reason, digest }, { name: person }): Promise<CancelOutcome | Refused> {
    const found = await livingFor(parts.ledger.db, batch);
    if (found.kind === 'refused') return found;
    const reasons = readReasons(found.batch.hold_reasons);
    if (!reasons.some(isRejectable)) return refusedFor({ kind: 'needless', batch, reasons });
    const shown = await readApprovable(parts.ledger.db, found.batch);
    const isShown = digest === undefined || shown.digest === digest;
    const claim = { batch: found.batch, shown };
    const claimed = isShown ? await parts.ledger.write((trx) => claimRejection(trx, claim)) : null;
    if (claimed === null) return refusedFor({ kind: 'changed', id: batch });
    return cancelBatch(parts, { batch, person, why: `rejected by ${person}: ${reason}`, ...claimed });
  },
});
