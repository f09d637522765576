import { Big } from 'big.js';
import { DateTime } from 'luxon';
import { exponentOf } from '../domain/money.ts';
import { payoutStates } from '../domain/payout.ts';
import type { Scope } from '../reconciliation/run-facts.sql.ts';
import type { Db } from '../storage/ledger.ts';
import {
  bankSums,
  type Day,
  daySums,
  failureSums,
  feeDays,
  settleTimes,
  stateSums,
  type Window,
} from './figure-facts.sql.ts';
import { money } from './presentation.ts';

/** The days up to the run for which figures are given. */
const windowDays = 31;

/** The figures of a run as sheets, header first: what report.html draws and report.xlsx holds, frozen with the run. */
export const figureSheets = ['states', 'days', 'failures', 'banks', 'fees', 'settle_times'] as const;
export type FigureSheet = (typeof figureSheets)[number];

/** Computes the figures as of the run's cut, with days as `zone` has them. */
export async function figureRows(
  db: Db,
  scope: Scope,
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
  const today = DateTime.fromISO(cut, { zone }).startOf('day');
  const day = (before: number): Day => {
    const begins = today.minus({ days: before });
    return { day: begins.toFormat('yyyy-LL-dd'), begins: begins.toUTC().toISO() ?? cut };
  };
  const [first = day(0), ...rest] = Array.from({ length: windowDays }, (_, n) => day(windowDays - 1 - n));
  return [first, ...rest];
}

async function stateRows(db: Db, scope: Scope): Promise<string[][]> {
  const rows = (await stateSums(db, scope)).toSorted(
    (a, b) => order(a.currency, b.currency) || payoutStates.indexOf(a.state) - payoutStates.indexOf(b.state),
  );
  return [
    ['currency', 'state', 'count', 'amount'],
    ...rows.map((row) => [row.currency, row.state, `${row.count}`, money(row.amount, row.currency)]),
  ];
}

async function dayRows(db: Db, window: Window): Promise<string[][]> {
  const none = { count: 0n, amount: 0n };
  const groups = Map.groupBy(await daySums(db, window), ({ currency, day }) => `${currency} ${day}`);
  const rows = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const of = (what: string) => group.find((one) => one.what === what) ?? none;
    const [sent, settled] = [of('submitted'), of('settled')];
    const { currency, day } = first;
    return [
      [
        currency,
        day,
        `${sent.count}`,
        money(sent.amount, currency),
        `${settled.count}`,
        money(settled.amount, currency),
      ],
    ];
  });
  const header = ['currency', 'day', 'submitted', 'submitted_amount', 'settled', 'settled_amount'];
  return [header, ...rows.toSorted(byFirstTwo)];
}

async function failureRows(db: Db, window: Window): Promise<string[][]> {
  const rows = (await failureSums(db, window)).toSorted(
    (a, b) =>
      order(a.currency, b.currency) ||
      Number(a.reason === null) - Number(b.reason === null) ||
      Number(b.count - a.count) ||
      order(a.state, b.state) ||
      order(a.reason ?? '', b.reason ?? ''),
  );
  return [
    ['currency', 'state', 'reason', 'count', 'amount'],
    ...rows.map(({ currency, state, reason, count, amount }) => {
      const words = reason === null ? '(all other reasons)' : reason || '(no reason was given)';
      return [currency, state, words, `${count}`, money(amount, currency)];
    }),
  ];
}

async function bankRows(db: Db, window: Window): Promise<string[][]> {
  const rows = (await bankSums(db, window)).toSorted(
    (a, b) =>
      order(a.currency, b.currency) ||
      Number(a.bank === null) - Number(b.bank === null) ||
      Number(b.count - a.count) ||
      order(a.bank ?? '', b.bank ?? ''),
  );
  return [
    ['currency', 'bank_code', 'count', 'amount', 'submitted'],
    ...rows.map(({ currency, bank, count, amount, sent }) => [
      currency,
      bank ?? '(all other banks)',
      `${count}`,
      money(amount, currency),
      `${sent}`,
    ]),
  ];
}

/** Fees are exact decimals, rounded only here, where they are shown (P30); what is no decimal counts as not told. */
async function feeRows(db: Db, window: Window): Promise<string[][]> {
  const totals = new Map<
    string,
    { currency: string; day: string; told: bigint; untold: bigint; total: Big }
  >();
  for await (const { currency, day, fee, count } of feeDays(db, window)) {
    const key = `${currency} ${day}`;
    const known = totals.get(key) ?? { currency, day, told: 0n, untold: 0n, total: Big(0) };
    const isDecimal = fee !== null && /^\d+(\.\d+)?$/.test(fee);
    totals.set(key, {
      ...known,
      told: known.told + (isDecimal ? count : 0n),
      untold: known.untold + (isDecimal ? 0n : count),
      total: isDecimal ? known.total.plus(Big(fee).times(count.toString())) : known.total,
    });
  }
  const rows = [...totals.values()].map(({ currency, day, told, untold, total }) => [
    currency,
    day,
    `${told}`,
    total.toFixed(exponentOf(currency) ?? 2, Big.roundHalfUp),
    `${untold}`,
  ]);
  return [['currency', 'day', 'count', 'fee', 'fee_not_told'], ...rows.toSorted(byFirstTwo)];
}

async function settleRows(db: Db, window: Window): Promise<string[][]> {
  const rows = (await settleTimes(db, window)).map(({ currency, day, count, median, p95 }) => [
    currency,
    day ?? 'all',
    `${count}`,
    `${median}`,
    `${p95}`,
  ]);
  return [['currency', 'day', 'count', 'median_seconds', 'p95_seconds'], ...rows.toSorted(byFirstTwo)];
}

function byFirstTwo([a0 = '', a1 = '']: string[], [b0 = '', b1 = '']: string[]): number {
  return order(a0, b0) || order(a1, b1);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
