import { z } from 'zod';
import * as reportJob from '../../jobs/report.ts';
import type { App } from '../app/app.ts';
import { findRun } from '../books/batch-results.sql.ts';
import { isFrozen } from '../books/run-sheets.sql.ts';
import { getBatch } from '../core/ledger/batches.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = Pick<App<'local'>, 'ledger' | 'clock' | 'applyWebhooks' | 'reporting'>;

/** `skipped`: why files of a batch were not written. */
export type ReportOutcome = { kind: 'written'; files: string[]; skipped: string[] };

const which = z.union([
  z.strictObject({ run: z.string() }),
  z.strictObject({ month: z.string() }),
  z.strictObject({ batch: z.string() }),
  /** All that is due, and the last run and month. */
  z.strictObject({ due: z.literal(true) }),
]);

/** Writes the reports of a run, a closed month or a batch again, or all that is due. */
export const reportVerb = verb({
  name: 'report',
  can: 'read',
  touchesMoney: false,
  input: which,
  async run(parts: Parts, input): Promise<ReportOutcome | Refused> {
    if ('due' in input) return { kind: 'written', ...(await reportJob.run(parts)), skipped: [] };
    const written = await write(parts, input);
    if (written.kind === 'refused') return written;
    return { ...written, files: [...written.files, await parts.reporting.writeIndex()] };
  },
});

async function write(
  { ledger, applyWebhooks, reporting }: Parts,
  input: Exclude<z.infer<typeof which>, { due: true }>,
): Promise<ReportOutcome | Refused> {
  if ('run' in input) {
    if (!(await findRun(ledger.db, input.run))) return refusedFor({ kind: 'no_run', ...input });
    if (!(await isFrozen(ledger.db, input.run))) return refusedFor({ kind: 'unfinished_run', ...input });
    return { kind: 'written', files: await reporting.writeRun(input.run), skipped: [] };
  }
  if ('month' in input) {
    const files = await reporting.writePeriod(input.month);
    return files ? { kind: 'written', files, skipped: [] } : refusedFor({ kind: 'open_month', ...input });
  }
  const batch = await getBatch(ledger.db, input.batch);
  if (!batch) return refusedFor({ kind: 'no_batch', batch: input.batch });
  await applyWebhooks();
  return { kind: 'written', ...(await reporting.writeBatchResults(batch.id, { force: true })) };
}
