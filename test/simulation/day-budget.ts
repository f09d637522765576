import type { Book } from './book.ts';
import type { Braked } from './brake-watch.ts';
import type { Fall } from './fall.ts';
import type { Inspector } from './inspector.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

type Spent = Map<string, { times: number; minor: number }>;

/**
 * What the bytes that left in one true day of the office's time zone come to (P21), whatever our clock shows. What the
 * service or its edge answered that it did not take is none of it; a POST belongs to the day of its intent, by the
 * service's clock.
 */
export function createDayBudget(deps: {
  world: World;
  weather: Weather;
  inspector: Inspector;
  book: Book;
  fall: Fall;
}): { began(attempt: Braked): void; leaving(attempt: Braked): void; wentBack(): void } {
  const { world, weather, inspector, book } = deps;
  const { dailyLimit: limit, timezone } = weather.brakes;
  const days = new Map<string, Spent>();
  /** What left before the ledger went back and is in it no more. */
  const lost = new Map<string, Spent>();
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: timezone });
  /** The day of each intent. */
  const begun = new Map<number, string>();
  let latest = '';

  function began({ id }: Braked): void {
    begun.set(id, calendar.format(world.now() + weather.serviceClockErrorMs));
  }

  function leaving({ id, reference, amount }: Braked): void {
    if (limit === null) return;
    const day = begun.get(id) ?? '';
    if (latest !== '' && day > latest) {
      world.coverage.count('brake: sent on a later day');
      if (weather.long.zone) world.coverage.count('zone: sent on a later day');
    }
    latest = day;
    add(days, day, reference, amount);
    const sum = sumOf(days.get(day), () => true) + sumOf(lost.get(day), wasAdopted);
    if (sum > limit)
      world.violate(
        'P21: a day sends no more than its limit',
        `${sum} on ${day}, ${limit} allowed`,
        reference,
      );
  }

  function sumOf(spent: Spent | undefined, counts: (reference: string) => boolean): number {
    let sum = 0;
    for (const [reference, { times, minor }] of spent ?? []) {
      const harmless = book.arrivals(reference).filter(({ mayBeTaken }) => !mayBeTaken).length;
      if (times > harmless && counts(reference)) sum += (times - harmless) * minor;
    }
    return sum;
  }

  /** What an adoption doubts counts as sent by the copy that was lost (P25). */
  function wasAdopted(reference: string): boolean {
    const sql = `select 1 from history h join payouts p on p.id = h.payout_id
      where p.reference = ? and h.event = 'adopted' limit 1`;
    return inspector.rows(sql, reference).length > 0;
  }

  function wentBack(): void {
    for (const [day, spent] of days)
      for (const [reference, { times, minor }] of [...spent]) {
        const remembered = attemptsOf(reference);
        if (remembered >= times) continue;
        if (remembered === 0) spent.delete(reference);
        else spent.set(reference, { times: remembered, minor });
        add(lost, day, reference, minor);
      }
  }

  function attemptsOf(reference: string): number {
    const sql =
      'select count(*) as n from attempts a join payouts p on p.id = a.payout_id where p.reference = ?';
    return inspector.rows<{ n: number }>(sql, reference)[0]?.n ?? 0;
  }

  return { began, leaving, wentBack };
}

function add(days: Map<string, Spent>, day: string, reference: string, minor: number): void {
  const spent = days.get(day) ?? new Map<string, { times: number; minor: number }>();
  const times = (spent.get(reference)?.times ?? 0) + 1;
  days.set(day, spent.set(reference, { times, minor }));
}
