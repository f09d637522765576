import { courseOf } from '../books/book.ts';
import { closedPeriods, periodDigest, periodRows } from '../books/periods.sql.ts';
import { type PayoutFacts, payoutFacts } from '../books/statement-facts.sql.ts';
import { exponentOf, formatMinor } from '../core/domain/money.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Period } from '../core/storage/tables/period-tables.ts';
import { type LedgerProblem, type ProblemFact, problemsOf } from './ledger-problem.ts';

/** A closed month with its frozen amounts and those counted from the history. */
type Checked = { period: Period; frozen: Map<string, string>; counted: Counted };
/** `NGN submitted` → minor units. */
type Counted = Map<string, { currency: string; line: string; amount: bigint }>;

/**
 * Checks that every closed month is unchanged, follows the one before it, and agrees with the history (P30) together with
 * what archives hold of it. An archive alone has only a part of each month: `part`.
 */
export async function checkPeriods(db: Db, part = false): Promise<LedgerProblem[]> {
  const issues: LedgerProblem[] = [];
  const periods = await closedPeriods(db);
  const months = part ? [] : await countMonths(db, periods);
  for (const { period, counted } of months) await addArchived(db, period.month, counted);
  for (const [i, period] of periods.entries()) {
    const [before, month] = [months[i - 1], months[i]];
    const isSame = (await periodDigest(db, period)) === period.digest;
    const facts: ProblemFact[] = [
      ...(isSame ? [] : [{ kind: 'period_digest' as const }]),
      ...(before && month ? follows(before, month) : []),
      ...(month ? differs(month) : []),
    ];
    issues.push(...problemsOf('periods', period.month, facts));
  }
  return issues;
}

async function countMonths(db: Db, periods: Period[]): Promise<Checked[]> {
  const months: Checked[] = [];
  for (const { period, counted } of await countByMonth(db, periods))
    months.push({ period, frozen: await frozenAmounts(db, period), counted });
  return months;
}

async function addArchived(db: Db, month: string, counted: Counted): Promise<void> {
  const rows = await db
    .selectFrom('archived_amounts')
    .select(['currency', 'line', 'amount'])
    .where('month', '=', month)
    .execute();
  for (const { currency, line, amount } of rows) addTo(counted, { currency, line, amount });
}

function addTo(
  counted: Counted,
  { currency, line, amount }: { currency: string; line: string; amount: bigint },
): void {
  const key = `${currency} ${line}`;
  counted.set(key, { currency, line, amount: (counted.get(key)?.amount ?? 0n) + amount });
}

/** Counts the payouts of a ledger in each of these months, in one walk. What an archive holds of them is left out. */
export async function countByMonth(
  db: Db,
  periods: readonly Period[],
): Promise<{ period: Period; counted: Counted }[]> {
  const months = periods.map((period) => ({ period, counted: new Map() as Counted }));
  const known = periods.at(-1)?.through_history;
  if (known === undefined) return [];
  const span = { from: 0n, through: known };
  const scope = { span, known, listing: null, since: '', until: null };
  for await (const page of payoutFacts(db, scope))
    for (const facts of page) for (const month of months) countPayout(month, facts);
  return months;
}

function countPayout(
  { period, counted }: { period: Period; counted: Counted },
  { payout, moves }: PayoutFacts,
): void {
  const { currency, amount } = payout;
  const add = (line: string, sign = 1n): void => addTo(counted, { currency, line, amount: sign * amount });
  const span = { from: period.from_history, through: period.through_history };
  const { before, after, flows } = courseOf(moves, span);
  if (before.kind === 'open') add('opening');
  for (const { line, sign, event } of flows) if (event !== 'archived') add(line, sign);
  if (after.kind === 'open') add(after.state === 'unknown' ? 'unknown' : 'in_flight');
}

function differs({ frozen, counted }: Checked): ProblemFact[] {
  return [...counted].flatMap(([key, { currency, line, amount }]) => {
    const is = exponentOf(currency) === undefined ? amount.toString() : formatMinor(amount, currency);
    const was = frozen.get(key);
    return was === is ? [] : [{ kind: 'period_line', line, currency, counted: is, frozen: was }];
  });
}

function follows({ period: last, frozen }: Checked, month: Checked): ProblemFact[] {
  const { period } = month;
  const isNext = last.ends_at === period.starts_at && last.through_history === period.from_history;
  const keys = [...frozen.keys(), ...month.frozen.keys()];
  const currencies = [...new Set(keys.map((key) => key.split(' ')[0] ?? ''))];
  const apart = currencies.filter((currency) => {
    const closing = frozen.get(`${currency} closing`) ?? '';
    const opening = month.frozen.get(`${currency} opening`) ?? '';
    return closing !== opening && !(isZero(closing) && isZero(opening));
  });
  const before = last.month;
  return [
    ...(isNext ? [] : [{ kind: 'period_begins' as const, before }]),
    ...apart.map((currency) => ({ kind: 'period_opening' as const, before, currency })),
  ];
}

const isZero = (amount: string): boolean => /^[0.]*$/.test(amount);

async function frozenAmounts(db: Db, period: Period): Promise<Map<string, string>> {
  const amounts = new Map<string, string>();
  for await (const page of periodRows(db, period, 'statement'))
    for (const { cells } of page) {
      const [currency, line, , amount] = readCells(cells);
      amounts.set(`${String(currency)} ${String(line)}`, String(amount));
    }
  return amounts;
}

/** Cells that cannot be read show in the digest. */
function readCells(text: string): unknown[] {
  try {
    const cells: unknown = JSON.parse(text);
    return Array.isArray(cells) ? cells : [];
  } catch {
    return [];
  }
}
