import { money } from './presentation.ts';

const dayMs = 86_400_000;
const buckets = [
  { name: '0-1', upTo: 1 },
  { name: '2-3', upTo: 3 },
  { name: '4-7', upTo: 7 },
  { name: '8-30', upTo: 30 },
  { name: '31+', upTo: Number.POSITIVE_INFINITY },
] as const;

type Aged = { currency: string; kind: string; state: string; first_seen_at: string; money: bigint | null };

/**
 * Collects what is still open or acknowledged by age in whole days at `at` (ISO UTC); the amount is that of the payout
 * or the listed transfer concerned. Rows: `currency,kind,bucket,count,amount`, header first, empty buckets left out.
 */
export function createAgeing(at: string) {
  const groups = new Map<
    string,
    { currency: string; kind: string; bucket: number; count: bigint; amount: bigint }
  >();

  function ageDays(firstSeenAt: string): number {
    return Math.max(0, Math.floor((Date.parse(at) - Date.parse(firstSeenAt)) / dayMs));
  }

  function add(line: Aged): void {
    if (line.state === 'resolved') return;
    const { currency, kind } = line;
    const days = ageDays(line.first_seen_at);
    const bucket = buckets.findIndex(({ upTo }) => days <= upTo);
    const key = JSON.stringify([currency, kind, bucket]);
    const group = groups.get(key) ?? { currency, kind, bucket, count: 0n, amount: 0n };
    groups.set(key, { ...group, count: group.count + 1n, amount: group.amount + (line.money ?? 0n) });
  }

  function rows(): string[][] {
    const sorted = [...groups.values()].sort(
      (a, b) => order(a.currency, b.currency) || order(a.kind, b.kind) || a.bucket - b.bucket,
    );
    const cells = sorted.map(({ currency, kind, bucket, count, amount }) => {
      return [currency, kind, buckets[bucket]?.name ?? '', count.toString(), money(amount, currency)];
    });
    return [['currency', 'kind', 'bucket', 'count', 'amount'], ...cells];
  }

  return { ageDays, add, rows };
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
