import { money } from './presentation.ts';
import { asIs, byText, sheetOf } from './sheet.ts';

const dayMs = 86_400_000;
const buckets = [
  { name: '0-1', upTo: 1 },
  { name: '2-3', upTo: 3 },
  { name: '4-7', upTo: 7 },
  { name: '8-30', upTo: 30 },
  { name: '31+', upTo: Number.POSITIVE_INFINITY },
] as const;

/** The buckets of age in days, the youngest first. */
export const ageBuckets: string[] = buckets.map(({ name }) => name);

export function ageBucket(days: number): string {
  return buckets.find(({ upTo }) => days <= upTo)?.name ?? '';
}

type Aged = { currency: string; kind: string; state: string; first_seen_at: string; money: bigint | null };
type Group = { currency: string; kind: string; bucket: number; count: bigint; amount: bigint };

const ageingSheet = sheetOf<Group>({
  ...asIs('currency', 'kind'),
  bucket: ({ bucket }) => ageBuckets[bucket] ?? '',
  count: ({ count }) => count.toString(),
  amount: ({ amount, currency }) => money(amount, currency),
});

/** Whole days from one instant to another, both ISO UTC; 0 where the clock went back. */
export function ageDays(firstSeenAt: string, at: string): number {
  return Math.max(0, Math.floor((Date.parse(at) - Date.parse(firstSeenAt)) / dayMs));
}

/**
 * Collects open and acknowledged discrepancies by age in whole days at `at` (ISO UTC). The amount is that of the payout,
 * listed transfer or expected collection. Empty buckets are left out.
 */
export function createAgeing(at: string) {
  const groups = new Map<string, Group>();
  return {
    add(line: Aged): void {
      if (line.state === 'resolved') return;
      const { currency, kind } = line;
      const days = ageDays(line.first_seen_at, at);
      const bucket = buckets.findIndex(({ upTo }) => days <= upTo);
      const key = JSON.stringify([currency, kind, bucket]);
      const group = groups.get(key) ?? { currency, kind, bucket, count: 0n, amount: 0n };
      groups.set(key, { ...group, count: group.count + 1n, amount: group.amount + (line.money ?? 0n) });
    },
    rows(): string[][] {
      const sorted = [...groups.values()].toSorted(
        (a, b) => byText(a.currency, b.currency) || byText(a.kind, b.kind) || a.bucket - b.bucket,
      );
      return ageingSheet.all(sorted);
    },
  };
}
