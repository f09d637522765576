import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { closedPeriods } from '../../books/periods.sql.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { ProblemFact } from '../ledger-problem.ts';
import { openUnchanged } from '../snapshot.ts';
import { countByMonth } from '../verify-periods.ts';
import type { ArchivedAmount } from './strip-ledger.ts';

/** An archive in use, and the digest of its file. */
export type DoneArchive = { id: bigint; file: string; sha256: string };

export function doneArchives(db: Db): Promise<DoneArchive[]> {
  return db
    .selectFrom('archives')
    .select(['id', 'file', 'sha256'])
    .where('done_at', 'is not', null)
    .orderBy('id')
    .execute();
}

/** Why the file is not the archive that was made; null when it is. */
export async function whyNotAsWritten(path: string, { sha256 }: DoneArchive): Promise<ProblemFact | null> {
  if (!existsSync(path)) return { kind: 'archive_gone', path };
  return (await fileDigest(path)) === sha256 ? null : { kind: 'archive_changed' };
}

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** What the payouts in the archive at `path` add to each closed month of the ledger. */
export async function archiveAmounts(ledger: Db, path: string): Promise<ArchivedAmount[]> {
  const periods = await closedPeriods(ledger);
  const { db, close } = await openUnchanged(path);
  try {
    const months = await countByMonth(db, periods);
    return months.flatMap(({ period: { month }, counted }) =>
      [...counted.values()].filter(({ amount }) => amount !== 0n).map((one) => ({ month, ...one })),
    );
  } finally {
    await close();
  }
}

/** The lines in which the ledger's note of an archive differs from what the archive holds. */
export async function differingAmounts(ledger: Db, path: string, archive: bigint): Promise<ProblemFact[]> {
  const noted = await ledger
    .selectFrom('archived_amounts')
    .select(['month', 'currency', 'line', 'amount'])
    .where('archive_id', '=', archive)
    .execute();
  const held = await archiveAmounts(ledger, path);
  return [
    ...without(noted, held).map((one): ProblemFact => ({ kind: 'amount_not_held', ...one })),
    ...without(held, noted).map((one): ProblemFact => ({ kind: 'amount_not_noted', ...one })),
  ];
}

function without(amounts: readonly ArchivedAmount[], others: readonly ArchivedAmount[]): ArchivedAmount[] {
  const keyOf = ({ month, currency, line, amount }: ArchivedAmount): string =>
    [month, currency, line, amount].join(' ');
  const keys = new Set(others.map(keyOf));
  return amounts.filter((one) => !keys.has(keyOf(one)));
}
