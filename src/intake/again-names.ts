import { foldReference } from '../domain/ids.ts';
import { rootsNamedBy } from '../domain/successor-name.ts';
import { existingReferences } from '../ledger/batches.ts';
import type { HoldReason } from '../ledger/hold-reasons.ts';
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

/** Why a file with such rows waits; none where it has none. */
export function namedAgainReason(first: NamedAgain | undefined, count: number): HoldReason[] {
  return first ? [{ kind: 'named_again', ...first, others: count - 1 }] : [];
}
