/*
 * What a reconciliation must say: the statement, the verdict and the findings of a run, worked out from our orders and the
 * service's transfers alone. It is the specification of P30, P35 and P36 in plain code, and imports nothing of the program.
 * All amounts are minor units of their currency.
 */

/** One entry of an order's history that moved it, or named a fee. Entries are numbered over the whole ledger. */
export type Move = { entry: number; event: string; state: string; fee: string | null };

/** One order to pay, and what became of it here. */
export type Order = {
  reference: string;
  currency: string;
  amount: bigint;
  moves: readonly Move[];
  /** The id that the service answered; it tells which of several transfers is the order's own. */
  transferId: string | null;
  /** When its last POST ended, ms since the epoch; null where nothing was ever sent from here. */
  sentAt: number | null;
  /** Only a person says how it ended. */
  byPerson: boolean;
  /** An attempt of it may have gone to another account than the one listed, which may then lack it (P31). */
  elsewhere: boolean;
};

/** A transfer as the list shows it. `amount` null: it cannot be read. */
export type Transfer = {
  id: string;
  reference: string;
  currency: string;
  amount: bigint | null;
  status: string;
};

/** `usable`: proven complete, and of this account. `readAt` and `graceMs`: what was sent later may be missing. */
export type List = { usable: boolean; rows: readonly Transfer[]; readAt: number; graceMs: number };

/** Entries after `from` up to `through` are the period; up to `known` anything is known. `counted`: by closed months. */
export type Period = { from: number; through: number; known: number; counted: ReadonlySet<string> };

export const lines = [
  ...['opening', 'submitted', 'reopened', 'settled', 'failed', 'refused', 'closing', 'in_flight', 'unknown'],
  ...[
    'returned',
    'net_paid',
    'fees',
    'listed_by_service',
    'unseen',
    'foreign',
    'amount_differences',
    'timing',
  ],
  ...['unexplained', 'duplicates', 'status_conflicts', 'collisions', 'returns', 'paid_elsewhere'],
  ...['open_conflicts', 'unreadable'],
] as const;

export type Sum = { count: number; amount: bigint };
export type Verdict = 'reconciled' | 'exceptions' | 'not_compared' | 'none';
export type Statement = {
  lines: Record<string, Sum>;
  verdict: Verdict;
  /** What the list shows beyond net paid. */
  difference: bigint;
};
/** A difference, and the kinds of discrepancy that tell a person of it: any of them will do; none: its line says it all. */
export type Finding = { line: string; reference: string; currency: string; kinds: readonly string[] };
export type Books = { statements: Map<string, Statement>; findings: Finding[]; verdict: Verdict };

/** Lines that say that something is wrong: one of them is not zero, and the currency has exceptions. */
export const wrongLines: readonly string[] = [
  ...['unseen', 'foreign', 'amount_differences', 'duplicates', 'status_conflicts', 'collisions'],
  ...['open_conflicts', 'unexplained', 'unreadable'],
];

/** Where money stands: not sent, on its way, or at one of three ends. What came back had been paid. */
type Place = 'unsent' | 'open' | 'settled' | 'failed' | 'refused';
type Stand = { state: string; place: Place; fee: string | null };
const places: Record<string, Place> = {
  ...{ held: 'unsent', ready: 'unsent', cancelled: 'unsent' },
  ...{ sending: 'open', pending: 'open', unknown: 'open' },
  ...{ success: 'settled', returned: 'settled', failed: 'failed', refused: 'refused' },
};
const nowhere: Stand = { state: '', place: 'unsent', fee: null };

export function readBooks(orders: readonly Order[], list: List | null, period: Period): Books {
  const sums = new Map<string, Record<string, Sum>>();
  const fees = new Map<string, bigint>();
  const findings: Finding[] = [];
  const sumsOf = (currency: string): Record<string, Sum> => {
    const own =
      sums.get(currency) ?? Object.fromEntries(lines.map((line) => [line, { count: 0, amount: 0n }]));
    sums.set(currency, own);
    return own;
  };
  const add = (currency: string, line: string, count: number, amount: bigint): void => {
    const sum = sumsOf(currency)[line];
    if (!sum) throw new Error(`no line ${line}`);
    sum.count += count;
    sum.amount += amount;
  };
  const addFee = (currency: string, fee: string | null, sign: bigint): void => {
    if (fee !== null) fees.set(currency, (fees.get(currency) ?? 0n) + sign * exactFee(fee));
    if (fee !== null) add(currency, 'fees', Number(sign), 0n);
  };

  const rows = list?.rows ?? [];
  const isListed = list?.usable ?? false;
  const ours = new Set(orders.map(({ reference }) => fold(reference)));
  for (const order of orders) {
    const { before, after } = flows(order, period, (line, sign) => {
      if (line === 'unpaid') add(order.currency, 'net_paid', -sign, BigInt(-sign) * order.amount);
      else add(order.currency, line, sign, BigInt(sign) * order.amount);
    });
    addFee(order.currency, after.place === 'settled' ? after.fee : null, 1n);
    addFee(order.currency, before.place === 'settled' ? before.fee : null, -1n);
    const own = rows.filter(({ reference }) => fold(reference) === fold(order.reference));
    for (const { line, currency, amount, count = 1, kinds = [] } of compare(order, own, {
      before,
      after,
      list,
      period,
    })) {
      add(currency, line, count, amount);
      if (wrongLines.includes(line)) findings.push({ line, reference: order.reference, currency, kinds });
    }
    // A closed month counts each of its currencies for ever.
    if (period.from > 0 && standAt(order, period.known).place !== 'unsent') sumsOf(order.currency);
  }
  for (const row of rows) {
    if (ours.has(fold(row.reference)) || (row.amount !== null && isFailed(row))) continue;
    const { currency, amount, id, reference } = row;
    if (amount === null) add(currency, 'unreadable', 1, 0n);
    else add(currency, 'foreign', 1, amount);
    if (amount !== null && period.counted.has(id)) add(currency, 'timing', 1, -amount);
    else if (amount !== null) add(currency, 'listed_by_service', 1, amount);
    findings.push({ line: 'foreign', reference, currency, kinds: ['missing_in_ledger'] });
  }
  const statements = new Map<string, Statement>();
  for (const [currency, own] of sums)
    statements.set(currency, conclude(own, fees.get(currency) ?? 0n, isListed));
  const verdicts = [...statements.values()].map(({ verdict }) => verdict);
  const worst = (['not_compared', 'exceptions', 'reconciled'] as const).find((one) => verdicts.includes(one));
  return { statements, findings, verdict: worst ?? (isListed ? 'none' : 'not_compared') };
}

/** P30: the lines that are sums of others, and the verdict (P35). */
function conclude(own: Record<string, Sum>, fee: bigint, isListed: boolean): Statement {
  const of = (line: string): Sum => own[line] ?? { count: 0, amount: 0n };
  const total = (plus: string[], less: string[]): Sum => {
    const all = (part: 'count', some: string[]): number =>
      some.reduce((sum, line) => sum + of(line)[part], 0);
    const money = (some: string[]): bigint => some.reduce((sum, line) => sum + of(line).amount, 0n);
    return { count: all('count', plus) - all('count', less), amount: money(plus) - money(less) };
  };
  own.closing = total(['opening', 'submitted', 'reopened'], ['settled', 'failed', 'refused']);
  // What had been settled and was reopened stands in net_paid already, taken off.
  own.net_paid = total(['settled', 'net_paid'], ['returned']);
  own.fees = { count: of('fees').count, amount: roundedFee(fee) };
  const isWrong = wrongLines.some((line) => of(line).count !== 0 || of(line).amount !== 0n);
  return {
    lines: own,
    verdict: isListed ? (isWrong ? 'exceptions' : 'reconciled') : 'not_compared',
    difference: of('listed_by_service').amount - own.net_paid.amount,
  };
}

/** Where the order stood after that entry. One that was ordered again and waits may have been taken: it is unknown. */
function standAt(order: Order, entry: number): Stand {
  let stand = nowhere;
  let again = false;
  for (const move of order.moves) {
    if (move.entry > entry) break;
    again = isAgain(again, move);
    stand = next(stand, move, again);
  }
  return stand;
}

/** How many sends the service may have taken: not those that came straight back as not taken. */
function sendsOf({ moves }: Order, entry: number): number {
  return moves.filter(
    ({ event }, i) =>
      event === 'intent' &&
      (moves[i]?.entry ?? 0) <= entry &&
      !['ready', 'held', 'cancelled', 'refused'].includes(moves[i + 1]?.state ?? ''),
  ).length;
}

function isAgain(again: boolean, { event }: Move): boolean {
  return event === 'retry' || (again && event !== 'intent');
}

function next(from: Stand, { state, fee }: Move, again: boolean): Stand {
  const now = again && (state === 'ready' || state === 'held') ? 'unknown' : state;
  return { state: now, place: places[now] ?? 'unsent', fee: fee ?? from.fee };
}

/** P30: the lines that an order passes through in the period. */
function flows(order: Order, { from, through }: Period, add: (line: string, sign: 1 | -1) => void) {
  const before = standAt(order, from);
  let last = nowhere;
  let again = false;
  for (const move of order.moves) {
    if (move.entry > through) break;
    again = isAgain(again, move);
    const now = next(last, move, again);
    if (move.entry > from) {
      if (now.state === 'returned' && last.state !== 'returned') add('returned', 1);
      if (last.state === 'returned' && now.state !== 'returned') add('returned', -1);
      if (now.place !== last.place) {
        // It leaves one place, is on its way, and comes to another.
        if (last.place === 'unsent') add('submitted', 1);
        else if (last.place !== 'open') add('reopened', 1);
        if (last.place === 'settled') add('unpaid', 1);
        if (now.place === 'unsent') add('submitted', -1);
        else if (now.place !== 'open') add(now.place, 1);
      }
    }
    last = now;
  }
  if (before.place === 'open') add('opening', 1);
  if (last.place === 'open') add(last.state === 'unknown' ? 'unknown' : 'in_flight', 1);
  return { before, after: last };
}

type Named = { line: string; currency: string; amount: bigint; count?: number; kinds?: readonly string[] };
type Sides = { before: Stand; after: Stand; list: List | null; period: Period };

/** What the list shows of one order, held against where it stands: each difference under its own name. */
function compare(order: Order, all: readonly Transfer[], { before, after, list, period }: Sides): Named[] {
  const found: Named[] = [];
  const { currency, amount } = order;
  const paid = all.filter((row) => !isFailed(row) && row.amount !== null);
  const own = [
    ...paid.filter(({ id }) => id === order.transferId),
    ...paid.filter(({ id }) => id !== order.transferId),
  ];
  const unread = all.filter((row) => row.amount === null);
  const rowAs = (line: string, row: Transfer, kinds?: readonly string[]): void =>
    void found.push({ line, currency: row.currency, amount: row.amount ?? 0n, ...(kinds && { kinds }) });
  const lacks = (line: string, kinds?: readonly string[]): void =>
    void found.push({
      line,
      currency,
      amount: line === 'unseen' ? amount : -amount,
      ...(kinds && { kinds }),
    });

  const isSent = before.place !== 'unsent' || after.place !== 'unsent';
  // Sent only after the period: the next one compares it.
  if (!isSent && standAt(order, period.known).place !== 'unsent') return found;
  for (const row of unread) rowAs('unreadable', row);
  for (const row of own) if (!period.counted.has(row.id)) rowAs('listed_by_service', row);
  const [first, ...more] = own;
  if (!isSent) {
    for (const row of own) rowAs('collisions', row, ['reference_collision', 'status_conflict']);
  } else if (after.place !== 'open' && after.place !== 'settled') {
    // Here it failed, or is proven not sent since: no list need show it. A pending transfer of it is older news.
    for (const row of own) if (row.status !== 'pending') rowAs('status_conflicts', row, conflictKinds);
  } else if (first) {
    if (first.currency !== currency || first.amount !== amount) {
      found.push({ line: 'amount_differences', currency, amount: -amount, count: 0 });
      rowAs('amount_differences', first, ['amount_conflict', 'currency_conflict']);
    }
    for (const row of more) rowAs('duplicates', row, ['paid_twice', 'duplicate_at_service']);
    // P17: of several sends one came back; another may still be paid, so that a person decides.
    const isPaid = standAt(order, period.known).state === 'success';
    const isHalfBack = isPaid && own.every(cameBack) && own.length < sendsOf(order, period.known);
    if (isHalfBack) found.push({ line: 'open_conflicts', currency, amount: 0n, kinds: conflictKinds });
    // P36: what came back is shown as paid: a conflict that no sum shows.
    const isBack = after.state === 'returned' && all.some(({ status }) => status === 'success');
    if (isBack) found.push({ line: 'open_conflicts', currency, amount: 0n, kinds: conflictKinds });
  } else if (unread.some((row) => !isFailed(row))) lacks('unexplained');
  else if (all.length > 0 && after.place !== 'open') {
    if (after.state === 'returned') lacks('returns');
    else lacks('status_conflicts', conflictKinds);
  } else if (all.length === 0 && list?.usable && !isYoung(order, list)) {
    // What nobody sent from here, and a person calls paid, no list can show.
    if (after.state === 'success' && order.sentAt === null && order.byPerson) lacks('paid_elsewhere');
    // What a person alone calls paid (P32), or went to another account (P31), is unseen, and nothing more is known of it.
    else
      lacks(
        'unseen',
        order.byPerson || order.elsewhere
          ? undefined
          : ['missing_at_service', 'unknown_outcome', 'stale_pending'],
      );
  }
  return [...found, ...timing(order, { period }, found)];
}

const conflictKinds = ['status_conflict', 'paid_twice', 'duplicate_at_service'];

/** P28: it was sent while the list was read, or too short a time before. */
function isYoung({ sentAt }: Order, { readAt, graceMs }: List): boolean {
  return sentAt !== null && sentAt > readAt - graceMs;
}

/** What one side knows earlier than the other, or a closed month has counted: all that no other line names. */
function timing(order: Order, { period }: Pick<Sides, 'period'>, found: readonly Named[]): Named[] {
  const left = new Map<string, bigint>();
  const put = (currency: string, amount: bigint): void =>
    void left.set(currency, (left.get(currency) ?? 0n) + amount);
  flows(order, period, (line, sign) => {
    const amount = BigInt(sign) * order.amount;
    if (line === 'submitted') put(order.currency, -amount);
    if (line === 'failed' || line === 'refused') put(order.currency, amount);
  });
  for (const { line, currency, amount } of found)
    put(currency, line === 'listed_by_service' || line === 'unseen' ? amount : -amount);
  return [...left].flatMap(([currency, amount]) =>
    amount === 0n ? [] : [{ line: 'timing', currency, amount }],
  );
}

const fold = (reference: string): string => reference.toLowerCase();
const isFailed = ({ status }: Transfer): boolean => status.toLowerCase() === 'failed';
const cameBack = ({ status }: Transfer): boolean =>
  ['returned', 'reversed', 'refunded'].includes(status.toLowerCase());

/** Fees are exact until they are shown: here in millionths of a minor unit of a currency with two digits. */
const feeScale = 8;
function exactFee(fee: string): bigint {
  const [whole = '0', part = ''] = fee.split('.');
  return BigInt(whole + part.padEnd(feeScale, '0').slice(0, feeScale));
}
function roundedFee(fee: bigint): bigint {
  const unit = 10n ** BigInt(feeScale - 2);
  return fee < 0n ? -((-fee + unit / 2n) / unit) : (fee + unit / 2n) / unit;
}
