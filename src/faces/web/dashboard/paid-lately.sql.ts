import { isArchived, type PaidSum, paidWithin } from '../../../books/month-facts.sql.ts';
import { lastPeriod } from '../../../books/periods.sql.ts';
import { readMonth } from '../../../books/statement/months.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import { dayAt } from '../../../sending/daily-limit.ts';

/** What was paid today, and in the month of today; null where that is too much to add up at once. */
export type PaidLately = { month: string; today: PaidSum[] | null; inMonth: PaidSum[] | null };

/** So many payments are added up for each look. */
export const mostPaidLately = 10_000;

/** Reads what was paid lately, and again only once the history has grown or the day has changed. */
export function createPaidLately(db: Db, zone: string): (now: string) => Promise<PaidLately> {
  let last: { day: string; newest: bigint; paid: PaidLately } | undefined;
  return async (now) => {
    const today = dayAt(now, zone);
    const newest = await newestEntry(db);
    if (last?.day === today.day && last.newest === newest) return last.paid;
    const name = today.day.slice(0, 7);
    const month = { startsAt: today.beginsAt, endsAt: today.endsAt, ...readMonth(name, zone) };
    const span = { ...month, after: (await lastPeriod(db))?.through_history ?? 0n, through: null };
    const paid = {
      month: name,
      today: await paidWithin(
        db,
        { ...span, startsAt: today.beginsAt, endsAt: today.endsAt },
        mostPaidLately,
      ),
      inMonth: (await isArchived(db, span)) ? null : await paidWithin(db, span, mostPaidLately),
    };
    last = { day: today.day, newest, paid };
    return paid;
  };
}

async function newestEntry(db: Db): Promise<bigint> {
  const row = await db.selectFrom('history').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row?.id ?? 0n;
}
