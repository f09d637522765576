import { DateTime } from 'luxon';
import { startOfDay } from '../core/domain/local-day.ts';
import { countedStates } from '../core/domain/payout.ts';
import type { Sum } from '../core/domain/verdict.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { RunScope } from './discrepancies/run-facts.sql.ts';
import { feeText, feeUnits } from './fee-sums.ts';
import {
  bankSums,
  type Day,
  daySums,
  failureSums,
  feeDays,
  settleTimes,
  sumsAtCut,
  type Window,
} from './figure-facts.sql.ts';
import { money } from './presentation.ts';
import { asIs, byText, sheetOf } from './sheet.ts';

/** How many days up to the run have figures. */
export const windowDays = 31;

/** The figures of a run as sheets, header first: what report.html draws and report.xlsx holds, frozen with the run. */
export const figureSheets = ['states', 'days', 'failures', 'banks', 'fees', 'settle_times'] as const;
export type FigureSheet = (typeof figureSheets)[number];

/** Computes the figures as of the run's cut, with days as `zone` has them. */
export async function figureRows(
  db: Db,
  scope: RunScope,
  zone: string,
): Promise<Record<FigureSheet, string[][]>> {
  const window: Window = { scope, days: daysUntil(scope.cut, zone) };
  return {
    states: await stateRows(db, scope),
    days: await dayRows(db, window),
    failures: await failureRows(db, window),
    banks: await bankRows(db, window),
    fees: await feeRows(db, window),
    settle_times: await settleRows(db, window),
  };
}

/** The last days up to an instant (ISO UTC), oldest first, each with the instant at which it begins in the zone. */
export function daysUntil(cut: string, zone: string): [Day, ...Day[]] {
  const today = DateTime.fromISO(cut, { zone });
  const day = (before: number): Day => {
    const begins = startOfDay(today.minus({ days: before }));
    return { day: begins.toFormat('yyyy-LL-dd'), begins: begins.toUTC().toISO() ?? cut };
  };
  const [first = day(0), ...rest] = Array.from({ length: windowDays }, (_, n) => day(windowDays - 1 - n));
  return [first, ...rest];
}

type Row<Facts extends (...given: never[]) => Promise<unknown[]>> = Awaited<ReturnType<Facts>>[number];

const stateSheet = sheetOf<Row<typeof sumsAtCut>>({
  ...asIs('currency', 'state'),
  count: ({ count }) => `${count}`,
  amount: ({ amount, currency }) => money(amount, currency),
});

async function stateRows(db: Db, scope: RunScope): Promise<string[][]> {
  const rows = (await sumsAtCut(db, scope)).toSorted(
    (a, b) =>
      byText(a.currency, b.currency) || countedStates.indexOf(a.state) - countedStates.indexOf(b.state),
  );
  return stateSheet.all(rows);
}

const daySheet = sheetOf<{ currency: string; day: string; sent: Sum; settled: Sum }>({
  ...asIs('currency', 'day'),
  submitted: ({ sent }) => `${sent.count}`,
  submitted_amount: ({ sent, currency }) => money(sent.amount, currency),
  settled: ({ settled }) => `${settled.count}`,
  settled_amount: ({ settled, currency }) => money(settled.amount, currency),
});

async function dayRows(db: Db, window: Window): Promise<string[][]> {
  const none = { count: 0n, amount: 0n };
  const groups = Map.groupBy(await daySums(db, window), ({ currency, day }) => `${currency} ${day}`);
  const rows = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const of = (what: string) => group.find((one) => one.what === what) ?? none;
    return [{ currency: first.currency, day: first.day, sent: of('submitted'), settled: of('settled') }];
  });
  return daySheet.all(rows.toSorted(byDay));
}

const failureSheet = sheetOf<Row<typeof failureSums>>({
  ...asIs('currency', 'state'),
  reason: ({ reason }) => (reason === null ? '(all other reasons)' : reason || '(no reason was given)'),
  count: ({ count }) => `${count}`,
  amount: ({ amount, currency }) => money(amount, currency),
});

async function failureRows(db: Db, window: Window): Promise<string[][]> {
  const rows = (await failureSums(db, window)).toSorted(
    (a, b) =>
      byText(a.currency, b.currency) ||
      Number(a.reason === null) - Number(b.reason === null) ||
      Number(b.count - a.count) ||
      byText(a.state, b.state) ||
      byText(a.reason ?? '', b.reason ?? ''),
  );
  return failureSheet.all(rows);
}

const bankSheet = sheetOf<Row<typeof bankSums>>({
  currency: ({ currency }) => currency,
  bank_code: ({ bank }) => bank ?? '(all other banks)',
  count: ({ count }) => `${count}`,
  amount: ({ amount, currency }) => money(amount, currency),
  submitted: ({ sent }) => `${sent}`,
});

async function bankRows(db: Db, window: Window): Promise<string[][]> {
  const rows = (await bankSums(db, window)).toSorted(
    (a, b) =>
      byText(a.currency, b.currency) ||
      Number(a.bank === null) - Number(b.bank === null) ||
      Number(b.count - a.count) ||
      byText(a.bank ?? '', b.bank ?? ''),
  );
  return bankSheet.all(rows);
}

type Fees = { currency: string; day: string; told: bigint; untold: bigint; units: bigint };
const feeSheet = sheetOf<Fees>({
  ...asIs('currency', 'day'),
  count: ({ told }) => `${told}`,
  fee: ({ units, currency }) => feeText(units, currency),
  fee_not_told: ({ untold }) => `${untold}`,
});

/** Fees by day. Anything but a decimal counts as not reported. */
async function feeRows(db: Db, window: Window): Promise<string[][]> {
  const totals = new Map<string, Fees>();
  for await (const { currency, day, fee, count } of feeDays(db, window)) {
    const key = `${currency} ${day}`;
    const known = totals.get(key) ?? { currency, day, told: 0n, untold: 0n, units: 0n };
    const units = feeUnits(fee);
    totals.set(key, {
      ...known,
      told: known.told + (units === null ? 0n : count),
      untold: known.untold + (units === null ? count : 0n),
      units: known.units + (units ?? 0n) * count,
    });
  }
  return feeSheet.all([...totals.values()].toSorted(byDay));
}

const settleSheet = sheetOf<Row<typeof settleTimes>>({
  currency: ({ currency }) => currency,
  day: ({ day }) => day ?? 'all',
  count: ({ count }) => `${count}`,
  median_seconds: ({ median }) => `${median}`,
  p95_seconds: ({ p95 }) => `${p95}`,
});

async function settleRows(db: Db, window: Window): Promise<string[][]> {
  return settleSheet.all((await settleTimes(db, window)).toSorted(byDay));
}

type OfDay = { currency: string; day: string | null };

/** Sorts by currency, then day; the row for all days comes last. */
function byDay(a: OfDay, b: OfDay): number {
  return byText(a.currency, b.currency) || byText(a.day ?? 'all', b.day ?? 'all');
}
