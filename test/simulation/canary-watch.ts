import type { Braked } from './brake-watch.ts';
import type { Inspector, Told } from './inspector.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

type Canary = { sent: Set<number>; passed: boolean };

const everything = '*';

/** Before the first of a batch have settled, or a person has let the rest go, no more of it go than were to go first (P21). */
export function createCanaryWatch({
  world,
  weather,
  inspector,
}: {
  world: World;
  weather: Weather;
  inspector: Inspector;
}): {
  began(attempt: Braked): void;
  committed(news: readonly Told[]): void;
  releasing(batch: string | null): void;
  wentBack(): void;
} {
  const size = weather.brakes.canary;
  const canaries = new Map<string, Canary>();
  /**
   * What was under way before the ledger went back: of its canary the copy knows less than was sent. And what an adoption
   * called unknown since: it counts as sent before, and each payout of it goes only on a person's word (P20, P25).
   */
  const exempt = new Set<string>();
  /** What people let go: a batch, or everything. */
  const acts = new Set<string>();

  /** What may have been sent of it, of the rows of the file: proven not taken, one is to go first again. */
  function alive({ sent }: Canary): { state: string }[] {
    const sql = `select p.state, (select max(a.outcome is null or a.outcome not in ('not_sent', 'turned_away'))
      from attempts a where a.payout_id = p.id) as possible from payouts p where p.id = ?`;
    return [...sent].flatMap((id) =>
      inspector.rows<{ state: string; possible: number }>(sql, id).filter(({ possible }) => possible === 1),
    );
  }

  function began({ id, payout_id, batch_id, successor_of, reference }: Braked): void {
    if (size === 0 || successor_of !== null || exempt.has(batch_id)) return;
    const canary = canaries.get(batch_id) ?? { sent: new Set<number>(), passed: false };
    canaries.set(batch_id, canary);
    canary.sent.add(payout_id);
    if (canary.passed) return;
    const n = alive(canary).length;
    if (n > size && wasReleased(batch_id)) canary.passed = true;
    else if (n > size)
      world.violate('P21: a canary goes first', `${n} of ${batch_id} went, attempt ${id}`, reference);
  }

  function committed(news: readonly Told[]): void {
    if (size === 0 || news.length === 0) return;
    for (const { event, from_state, to_state, payout_id } of news)
      if (event === 'adopted' && from_state !== to_state) exempt.add(batchOf(payout_id));
    for (const [batch, canary] of canaries) {
      if (canary.passed) continue;
      const first = alive(canary);
      if (first.length === 0 || first.some(({ state }) => state !== 'success')) continue;
      if (first.length < size && !hasCancelled(batch) && !weather.brakes.dates) continue;
      canary.passed = true;
      world.coverage.count('brake: canary passed');
    }
  }

  function batchOf(payout: number): string {
    const [row] = inspector.rows<{ batch_id: string }>('select batch_id from payouts where id = ?', payout);
    return row?.batch_id ?? '';
  }

  function hasCancelled(batch: string): boolean {
    const sql = "select 1 from payouts where batch_id = ? and state = 'cancelled' limit 1";
    return inspector.rows(sql, batch).length > 0;
  }

  /** The ledger says that it was, and a person did say so. */
  function wasReleased(batch: string): boolean {
    const sql = "select 1 from canaries where batch_id = ? and state = 'released'";
    const isReleased = inspector.rows(sql, batch).length > 0 && (acts.has(batch) || acts.has(everything));
    if (isReleased) world.coverage.count('brake: canary released');
    return isReleased;
  }

  function wentBack(): void {
    for (const batch of canaries.keys()) exempt.add(batch);
    for (const { id } of inspector.batches()) exempt.add(id);
    canaries.clear();
  }

  return { began, committed, releasing: (batch) => void acts.add(batch ?? everything), wentBack };
}
