import { foldReference } from '../core/domain/ids.ts';
import { rootsNamedBy } from '../core/domain/successor-name.ts';
import { existingReferences } from '../core/ledger/batches.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { GoodRow } from './rows.ts';

/** A row whose reference is that of a second payment of an earlier one, without a `retry_of` that says so. */
export type NamedAgain = { row: number; reference: string; earlier: string; batch: string };

/**
 * Finds rows that look like rows of a `failed.csv` that lost its retry columns. Paid as they are, such a row
 * leaves its original unlinked, and `retry` could pay that once more (P20).
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
  const matches = named.flatMap((one) => {
    const use = known.get(foldReference(one.earlier));
    return use === undefined ? [] : [{ ...one, batch: use.batch_id }];
  });
  return [...new Map(matches.map((one) => [one.row, one])).values()];
}

/** The reason to hold a batch with such rows; null where it has none. */
export function namedAgainReason(first: NamedAgain | undefined, count: number): HoldReason[] {
  return first ? [{ kind: 'named_again', ...first, others: count - 1 }] : [];
}
