import { join } from 'node:path';
import { z } from 'zod';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { promiseFiles } from '../core/ledger/file-tasks.ts';
import { recordPreparation } from '../core/ledger/mends.ts';
import type { Trx } from '../core/storage/ledger.ts';

export const mendShape = z.strictObject({
  row: z.number(),
  column: z.string(),
  was: z.string(),
  became: z.string(),
  by: z.string(),
  at: z.string(),
});
export const preparerShape = z.strictObject({
  name: z.string(),
  uid: z.number().nullable(),
  did: z.enum(['dropped', 'mended']),
});
const keptFile = z.strictObject({ source: z.string(), bytes: z.number(), sha256: z.string() });

/**
 * How people prepared a file before it is taken in. `sha256`: of the bytes that were checked. `original`: the file from
 * which it was mended; null for one that nobody mended.
 */
export const preparedShape = z.strictObject({
  sha256: z.string(),
  preparers: z.array(preparerShape),
  mends: z.array(mendShape),
  original: keptFile.nullable(),
});
export type Prepared = z.infer<typeof preparedShape>;

/** The problem of a file that is no longer the one that was checked. */
export function changedSinceCheck(
  prepared: Prepared | undefined,
  { bytesHash }: { bytesHash: string },
): Problem[] {
  if (prepared === undefined || bytesHash === '' || bytesHash === prepared.sha256) return [];
  return [wholeFile('the file changed after it was checked', 'check it again')];
}

/** The owner of the file from which a batch's file was mended; its name in the archive begins with it. */
export function originalOf(batch: string): string {
  return `${batch}--original`;
}

/**
 * Records how a file was prepared, and promises its original to the archive, in the transaction that decides the batch.
 * The original has an owner of its own: it is not the file that the batch was read from (P34).
 */
export async function recordPrepared(
  trx: Trx,
  { batch, at, archive, fileName }: { batch: string; at: string; archive: string; fileName: string },
  prepared: Prepared | undefined,
): Promise<void> {
  if (prepared === undefined) return;
  await recordPreparation(trx, batch, prepared);
  if (prepared.original === null) return;
  const owner = originalOf(batch);
  const target = join(archive, `${owner}--${fileName}`);
  await promiseFiles(trx, { owner, at }, [{ kind: 'archive', target, ...prepared.original }]);
}
