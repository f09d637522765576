import { Big } from 'big.js';
import { exponentOf } from '../domain/money.ts';
import type { PayoutState } from '../domain/payout.ts';
import { money } from './presentation.ts';

/** Payouts of one currency that moved from one state to another, up to the cut; amounts in minor units. */
export type Flow = {
  currency: string;
  from: PayoutState | null;
  to: PayoutState;
  count: bigint;
  amount: bigint;
};

/** Where payouts stand at the cut and what the run's listing shows of them; `listed*` is null where it shows nothing. */
export type Standing = {
  currency: string;
  state: PayoutState;
  listedCurrency: string | null;
  listedStatus: string | null;
  /** Sent after the listing began, so that its absence there says nothing. */
  late: boolean;
  count: bigint;
  amount: bigint;
  listedAmount: bigint;
  /** How many of the pairs differ in amount or currency. */
  differing: bigint;
};

/** Distinct transfers of the run's listing and mode; `foreign` ones have no payout of ours. */
export type ListedSum = { currency: string; status: string; foreign: boolean; count: bigint; amount: bigint };

/** Paid payouts that share one fee, an exact decimal text. */
export type FeeSum = { currency: string; fee: string; count: bigint };

export type StatementFacts = { flows: Flow[]; standings: Standing[]; listed: ListedSum[]; fees: FeeSum[] };

/** The lines of P30 in the order of statement.csv. */
const statementLines = [
  'opening',
  'submitted',
  'reopened',
  'settled',
  'failed',
  'refused',
  'closing',
  'in_flight',
  'unknown',
  'returned',
  'net_paid',
  'fees',
  'listed_by_service',
  'unseen',
  'foreign',
  'amount_differences',
  'timing',
  'unexplained',
] as const;
type Line = (typeof statementLines)[number];
type Sum = { count: bigint; amount: bigint };
type Sheet = {
  lines: Record<Line, Sum> /** Rows that a currency conflict moved here from another currency. */;
  moved: bigint;
};
type Kind = 'unsent' | 'open' | 'settled' | 'failed' | 'refused';

/** What a state means to the statement: `open` is money under way, the last three have left it. */
const kindOf: Record<PayoutState, Kind> = {
  held: 'unsent',
  ready: 'unsent',
  cancelled: 'unsent',
  sending: 'open',
  pending: 'open',
  unknown: 'open',
  success: 'settled',
  returned: 'settled',
  failed: 'failed',
  refused: 'refused',
};

/**
 * The statement of P30 per currency over the ledger's whole life up to the cut, as rows of `currency,line,count,amount`.
 * Every line is counted on its own; `unexplained` is only ever what the others leave over.
 */
export function statementRows(facts: StatementFacts): string[][] {
  const sheets = new Map<string, Sheet>();
  const sheet = (currency: string): Sheet => {
    const known = sheets.get(currency) ?? emptySheet();
    sheets.set(currency, known);
    return known;
  };
  const add = (currency: string, line: Line, { count, amount }: Sum, sign: 1n | -1n = 1n): void => {
    const sum = sheet(currency).lines[line];
    sum.count += sign * count;
    sum.amount += sign * amount;
  };
  for (const flow of facts.flows) addFlow(add, flow);
  for (const standing of facts.standings) addStanding(add, sheet, standing);
  for (const row of facts.listed) {
    if (row.status === 'failed') continue;
    add(row.currency, 'listed_by_service', row);
    if (row.foreign) add(row.currency, 'foreign', row);
  }
  const fees = feeTotals(facts.fees);
  return [...sheets]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([currency, one]) => {
      conclude(one);
      return statementLines.map((line) => {
        const { count, amount } = one.lines[line];
        const fee = fees.get(currency) ?? { count: 0n, total: Big(0) };
        return line === 'fees'
          ? [
              currency,
              line,
              fee.count.toString(),
              fee.total.toFixed(exponentOf(currency) ?? 2, Big.roundHalfUp),
            ]
          : [currency, line, count.toString(), money(amount, currency)];
      });
    });
}

type Add = (currency: string, line: Line, sum: Sum, sign?: 1n | -1n) => void;

/** One move of state, taken apart into the lines it touches: whatever it was, it passes through money under way. */
function addFlow(add: Add, flow: Flow): void {
  const { currency, from, to } = flow;
  if (to === 'returned') add(currency, 'returned', flow);
  if (from === 'returned') add(currency, 'returned', flow, -1n);
  const before = from === null ? 'unsent' : kindOf[from];
  const after = kindOf[to];
  if (before === after) return;
  if (before === 'unsent') add(currency, 'submitted', flow);
  else if (before !== 'open') add(currency, 'reopened', flow);
  // What left `failed` or `refused` stays in those lines; the side of the service sees it alive all the same.
  if (before === 'failed' || before === 'refused') add(currency, 'timing', flow);
  if (after === 'unsent') add(currency, 'submitted', flow, -1n);
  else if (after !== 'open') add(currency, after, flow);
}

function addStanding(add: Add, sheet: (currency: string) => Sheet, standing: Standing): void {
  const { currency, state, listedStatus, late } = standing;
  const listedCurrency = standing.listedCurrency ?? currency;
  const kind = kindOf[state];
  const ours = kind === 'open' || kind === 'settled';
  const listedSum = { count: standing.count, amount: standing.listedAmount };
  if (state === 'sending' || state === 'pending') add(currency, 'in_flight', standing);
  if (state === 'unknown') add(currency, 'unknown', standing);
  if (ours && listedStatus === null) {
    if (late) add(currency, 'timing', standing, -1n);
    else add(currency, 'unseen', standing);
  } else if (ours && listedStatus !== 'failed') {
    add(listedCurrency, 'amount_differences', { count: 0n, amount: standing.listedAmount });
    add(currency, 'amount_differences', { count: -standing.differing, amount: standing.amount }, -1n);
    sheet(listedCurrency).moved += standing.count;
    sheet(currency).moved -= standing.count;
  } else if (kind === 'open') {
    add(currency, 'timing', standing, -1n);
  } else if (!ours && listedStatus === 'pending' && kind !== 'unsent') {
    add(listedCurrency, 'timing', listedSum);
  }
  // Two final words that disagree, and money listed for a payout that was never sent, are explained by no line.
}

function conclude({ lines, moved }: Sheet): void {
  const of = (line: Line): Sum => lines[line];
  const total = (part: (line: Line) => bigint): { closing: bigint; netPaid: bigint; rest: bigint } => ({
    closing:
      part('opening') +
      part('submitted') +
      part('reopened') -
      part('settled') -
      part('failed') -
      part('refused'),
    netPaid: part('settled') - part('returned'),
    rest:
      part('listed_by_service') -
      part('submitted') +
      part('failed') +
      part('refused') +
      part('unseen') -
      part('foreign') -
      part('timing'),
  });
  const counts = total((line) => of(line).count);
  const amounts = total((line) => of(line).amount);
  lines.closing = { count: counts.closing, amount: amounts.closing };
  lines.net_paid = { count: counts.netPaid, amount: amounts.netPaid };
  // Pairs that differ in amount are still pairs: their count takes no part in the tie, only what changed currency does.
  lines.unexplained = { count: counts.rest - moved, amount: amounts.rest - of('amount_differences').amount };
}

/** Exact sums of fees per currency; they are rounded only when shown (P30). */
function feeTotals(fees: FeeSum[]): Map<string, { count: bigint; total: Big }> {
  const totals = new Map<string, { count: bigint; total: Big }>();
  for (const { currency, fee, count } of fees) {
    if (!/^\d+(\.\d+)?$/.test(fee)) continue;
    const known = totals.get(currency) ?? { count: 0n, total: Big(0) };
    totals.set(currency, {
      count: known.count + count,
      total: known.total.plus(Big(fee).times(count.toString())),
    });
  }
  return totals;
}

function emptySheet(): Sheet {
  const zero = (): Sum => ({ count: 0n, amount: 0n });
  return {
    moved: 0n,
    lines: {
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
    },
  };
}
