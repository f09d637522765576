import {
  type CurrencyFacts,
  type ListStanding,
  type Sum,
  type Verdict,
  verdictOf,
} from '../../core/domain/verdict.ts';
import { feeText, feeUnits } from '../fee-sums.ts';
import { money } from '../presentation.ts';
import { asIs, sheetOf } from '../sheet.ts';
import type { StatementEntry } from './entry.ts';
import { causeLines, countsOnly, rareLines, type StatementLine, statementLines } from './statement-lines.ts';

/** `fees`: as `feeUnits` counts them. */
type Sheet = { lines: Record<StatementLine, Sum>; fees: Sum; overturned: Sum; unpaid: Sum };

/** The verdict on one currency, with the facts behind it. */
export type CurrencyVerdict = {
  currency: string;
  verdict: Verdict;
  facts: CurrencyFacts & Record<StatementLine, Sum>;
};

/** A line of one currency's statement, with the shown amount. */
export type StatementRow = {
  currency: string;
  line: StatementLine;
  count: bigint;
  amount: string;
  verdict: Verdict;
};

/** statement.csv. */
export const statementSheet = sheetOf<StatementRow>({
  ...asIs('currency', 'line'),
  count: ({ count }) => count.toString(),
  ...asIs('amount', 'verdict'),
});

/** statement-rows.csv. */
export const entrySheet = sheetOf<StatementEntry>({
  ...asIs('currency', 'line', 'reference', 'batch'),
  transfer_id: ({ transferId }) => transferId,
  amount: ({ line, amount, currency }) => lineAmount(line, amount, currency),
  why: ({ why }) => why,
});

/** Adds up the statement of P30, per currency. `unexplained` is what the other lines leave; each rest is a row. */
export function createStatement() {
  const sheets = new Map<string, Sheet>();

  function sheet(currency: string): Sheet {
    const known = sheets.get(currency) ?? emptySheet();
    sheets.set(currency, known);
    return known;
  }

  /** Makes sure that a currency is stated, even where no line of it counts anything. */
  function note(currency: string): void {
    sheet(currency);
  }

  function add({ currency, line, count, amount, overturned = false, unpaid = false }: StatementEntry): void {
    const own = sheet(currency);
    const sums = [own.lines[line], ...(overturned ? [own.overturned] : []), ...(unpaid ? [own.unpaid] : [])];
    for (const sum of sums) {
      sum.count += count;
      sum.amount += amount;
    }
  }

  /** Adds a fee, exact decimal text, `sign` times. Anything but a decimal is no fee. */
  function addFee(currency: string, fee: string | null, sign: 1n | -1n): void {
    const units = feeUnits(fee);
    if (units === null) return;
    const { fees } = sheet(currency);
    fees.count += sign;
    fees.amount += sign * units;
  }

  /** Concludes: the verdicts, every row of statement.csv, and a row for each currency's rest without a cause. */
  function conclude(list: ListStanding | null) {
    const rest: StatementEntry[] = [];
    const verdicts: CurrencyVerdict[] = [];
    const all = [...sheets].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const rows = all.flatMap(([currency, one]) => {
      const left = residue(one.lines) - one.lines.unexplained.amount;
      if (left !== 0n) {
        const entry = restEntry(currency, left);
        rest.push(entry);
        add(entry);
      }
      derive(one);
      const facts = factsOf(one);
      const verdict = verdictOf(list, facts);
      verdicts.push({ currency, verdict, facts });
      return statementLines
        .filter((line) => !rareLines.has(line) || !isNothing(one.lines[line]))
        .map((line): StatementRow => {
          const { count, amount } = line === 'fees' ? one.fees : one.lines[line];
          const shown = line === 'fees' ? feeText(amount, currency) : lineAmount(line, amount, currency);
          return { currency, line, verdict, count, amount: shown };
        });
    });
    return { rows, rest, verdicts };
  }

  return { note, add, addFee, conclude };
}

/** How many places a line of a currency has. */
export const linePlaces = 10_000_000_000_000n;

/**
 * The position of a row in its statement: by currency, by line, and by its `place` in the line. The header is at 0. Positions may have gaps, so that
 * rows can be stored in any order.
 */
export function linePosition(
  { currency, line }: Pick<StatementEntry, 'currency' | 'line'>,
  place: bigint,
): bigint {
  const isCode = /^[A-Z]{3}$/.test(currency);
  const letters = isCode ? [0, 1, 2].map((at) => currency.charCodeAt(at) - 65) : [26, 0, 0];
  const rank = letters.reduce((sum, letter) => sum * 26 + letter, 0);
  const group = BigInt(rank * statementLines.length + statementLines.indexOf(line) + 1);
  return group * linePlaces + place;
}

/** What the service lists beyond everything accounted for. */
function residue(lines: Record<StatementLine, Sum>): bigint {
  const of = (line: StatementLine): bigint => lines[line].amount;
  const sent = of('submitted') - of('failed') - of('refused') - of('unseen');
  return causeLines.reduce(
    (left, line) => (line === 'unexplained' ? left : left - of(line)),
    of('listed_by_service') - sent,
  );
}

const isNothing = ({ count, amount }: Sum): boolean => count === 0n && amount === 0n;

function factsOf({ lines, overturned }: Sheet): CurrencyVerdict['facts'] {
  return {
    ...lines,
    overturned,
    imbalance: difference([lines.closing], [lines.in_flight, lines.unknown]),
  };
}

function restEntry(currency: string, amount: bigint): StatementEntry {
  const why = 'no recorded cause accounts for this: report it as a fault of Counterfoil';
  return { currency, line: 'unexplained', count: 1n, amount, reference: '', batch: '', transferId: '', why };
}

function derive({ lines, unpaid }: Sheet): void {
  const { opening, submitted, reopened, settled, failed, refused, returned } = lines;
  lines.closing = difference([opening, submitted, reopened], [settled, failed, refused]);
  lines.net_paid = difference([settled], [returned, unpaid]);
}

/** The sums in `added` less those in `taken`. */
function difference(added: readonly Sum[], taken: readonly Sum[]): Sum {
  const total = (sums: readonly Sum[], part: keyof Sum): bigint =>
    sums.reduce((all, sum) => all + sum[part], 0n);
  return {
    count: total(added, 'count') - total(taken, 'count'),
    amount: total(added, 'amount') - total(taken, 'amount'),
  };
}

function lineAmount(line: StatementLine, amount: bigint, currency: string): string {
  return countsOnly.has(line) ? '' : money(amount, currency);
}

function emptySheet(): Sheet {
  const zero = (): Sum => ({ count: 0n, amount: 0n });
  const lines: Record<StatementLine, Sum> = {
    opening: zero(),
    submitted: zero(),
    reopened: zero(),
    settled: zero(),
    failed: zero(),
    refused: zero(),
    closing: zero(),
    in_flight: zero(),
    unknown: zero(),
    returned: zero(),
    net_paid: zero(),
    fees: zero(),
    listed_by_service: zero(),
    unseen: zero(),
    foreign: zero(),
    amount_differences: zero(),
    timing: zero(),
    unexplained: zero(),
    duplicates: zero(),
    status_conflicts: zero(),
    collisions: zero(),
    returns: zero(),
    paid_elsewhere: zero(),
    open_conflicts: zero(),
    unreadable: zero(),
  };
  return { lines, fees: zero(), overturned: zero(), unpaid: zero() };
}
