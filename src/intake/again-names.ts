import { foldReference } from '../domain/ids.ts';
import { rootsNamedBy } from '../domain/successor-name.ts';
import { existingReferences } from '../ledger/batches.ts';
import type { Config } from '../settings/settings.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { GoodRow } from './rows.ts';

/** A row with the reference of a second payment of one in the ledger, that does not say that it is one. */
export type NamedAgain = { row: number; reference: string; earlier: string; batch: string };

/**
 * The rows that look like those of a `failed.csv` whose columns were lost on the way: paid as they stand, nothing would
 * keep the payout that they pay again from being paid once more by `retry` (P20).
 */
export async function namedAgain(
  rows: readonly GoodRow[],
  { ledger, config }: { ledger: Ledger; config: Config },
): Promise<NamedAgain[]> {
  const named = rows.flatMap(({ row, parsed: { reference }, retry }) => {
    const roots = retry || !reference ? [] : rootsNamedBy(reference, config.intake.referencePrefix);
    return roots.map((root) => ({ row, reference: reference ?? '', earlier: root }));
  });
  if (named.length === 0) return [];
  const keys = named.map(({ earlier }) => foldReference(earlier));
  const known = await existingReferences(ledger.db, [...new Set(keys)]);
  const found = named.flatMap((one) => {
    const batch = known.get(foldReference(one.earlier));
    return batch === undefined ? [] : [{ ...one, batch }];
  });
  return [...new Map(found.map((one) => [one.row, one])).values()];
}

/** Why a file with such rows waits; null where it has none. */
export function namedAgainReason(first: NamedAgain | undefined, count: number): string | null {
  if (!first) return null;
  const { row, reference, earlier, batch } = first;
  const others = count > 1 ? `, and ${count - 1} more` : '';
  return `row ${row} has the reference of a second payment of ${earlier} in batch ${batch} (${reference})${others}, but no retry_of: released, it may pay ${earlier} twice. A failed.csv that kept its columns retry_of and retry_evidence pays it once`;
}
