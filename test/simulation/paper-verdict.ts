import { decimalToMinor } from '../../src/core/domain/money.ts';
import { readBooks } from '../oracle/books.ts';
import { type PaperRow, type RunPaper, readIndexRow, readResults, readRunPaper } from '../support/paper.ts';
import type { Life } from './life.ts';
import { ordersOf, transfersOf } from './oracle-input.ts';
import type { Town } from './town.ts';

/** What the ledger and the service's book do not agree about, by reference: `foreign B1-2`. */
export type Differences = ReadonlySet<string>;

type Standing = { reference: string; state: string; amount: number };

const green = 'reconciled';
/** Words that say that nothing waits for a person: only a run that could look may say so. */
const noneOpen = /nothing is open|none open|✓ none/i;
/** Younger than this it may be in no list yet (`reconciliation.missing_grace_minutes`), clocks being what they are. */
const graceMs = 30 * 60_000;

/**
 * P35: what is on paper is held against the service's own book of money moved. A verdict that says more than the run could
 * see, a total that differs and a payout that is called paid and is not are false statements.
 */
export function createPaperVerdict(
  town: Town,
  reports: string,
): {
  /** What differs now, as this process could see it. */
  look(life: Life): Differences;
  /** `closed`: what closed months have as paid. */
  judge(read: { run: string; life: Life; before: Differences; isLast: boolean; closed: bigint }): void;
} {
  const { world, inspector, service, decisions } = town;
  const fail = (detail: string, about: string | null = null): void =>
    world.violate('P35: paper says what was seen', detail, about);

  function judge({
    run,
    life,
    before,
    isLast,
    closed,
  }: Parameters<ReturnType<typeof createPaperVerdict>['judge']>[0]): void {
    const paper = readRunPaper(reports, run);
    const after = look(life);
    const differences = [...before].filter((one) => after.has(one));
    judgeVerdicts(paper, differences, isLast && after.size === 0);
    judgeWords(paper);
    const paid = judgeResults();
    judgeTotals(paper, { paidInResults: paid, closed, isLast });
  }

  /** The same verdict everywhere, no better than what was compared, and in the end no worse. */
  function judgeVerdicts(paper: RunPaper, differences: string[], isWell: boolean): void {
    const { complete, statement: summary } = paper.summary;
    const index = readIndexRow(reports, paper.run).verdicts;
    for (const [currency, { verdict }] of Object.entries(paper.statement)) {
      world.coverage.count(`paper: ${verdict}`);
      const elsewhere = [summary[currency]?.verdict, paper.page.verdicts[currency], index[currency]];
      if (elsewhere.some((one) => one !== verdict))
        fail(`${currency} is ${verdict} in statement.csv and ${elsewhere.join(', ')} elsewhere`);
      if (complete === false && verdict !== 'not_compared')
        fail(`${currency} is ${verdict} on a list that was not whole`);
      if (verdict === green && differences.length > 0)
        fail(`${currency} is ${green}, and the book differs: ${differences.slice(0, 5).join(', ')}`);
      if (
        isWell &&
        complete !== false &&
        verdict !== green &&
        !(verdict === 'not_compared' && showsNoneOfOurs())
      )
        fail(`${currency} is ${verdict}, and nothing differs: ${JSON.stringify(summary[currency])}`);
    }
  }

  /** Whose list shows none of ours may be another account's: nothing can be compared with it. */
  function showsNoneOfOurs(): boolean {
    const ours = new Set(standings().map(({ reference }) => reference));
    return !service.book
      .all()
      .some(({ account, record }) => account === 'home' && ours.has(record.reference));
  }

  function judgeWords({ summary, page, run }: RunPaper): void {
    if (summary.complete !== false) return;
    const said = [page.words, readIndexRow(reports, run).words].find((words) => noneOpen.test(words));
    if (said !== undefined) fail(`"${noneOpen.exec(said)?.[0]}" where nothing could be looked for`);
  }

  /** Each payout that is called paid was paid, or a person said so; gives the sum of them. */
  function judgeResults(): bigint {
    const rows = inspector
      .rows<{ id: string }>(
        "select id from batches where phase = 'loaded' and version = reported_version order by id",
      )
      .flatMap(({ id }): PaperRow[] => readResults(reports, id));
    let sum = 0n;
    for (const { reference = '', payout_state: state, amount = '' } of rows) {
      if (state !== 'success') continue;
      sum += decimalToMinor(amount, 'NGN') ?? 0n;
      if (service.book.timesPaid(reference) === 0 && !decisions.isSettled(reference))
        fail('results.csv calls it paid, and it is not', reference);
    }
    return sum;
  }

  /** What was paid comes to what the ledger has as paid, each of it checked above or when it was believed. */
  function judgeTotals(
    { statement }: RunPaper,
    { paidInResults, closed, isLast }: { paidInResults: bigint; closed: bigint; isLast: boolean },
  ): void {
    const states = standings();
    const line = (name: string): bigint =>
      decimalToMinor(statement.NGN?.lines[name]?.amount ?? '0', 'NGN') ?? 0n;
    const paid = sumOf(states.filter(({ state }) => state === 'success'));
    // Who was wrong about it said so on paper, until the service contradicted.
    const errors = sumOf(
      states.filter(({ state, reference }) => state !== 'success' && decisions.isSettled(reference)),
    );
    const net = closed + line('net_paid');
    if (isLast && (net < paid || net > paid + errors)) fail(`net_paid is ${net}, paid are ${paid}`);
    if (isLast && paidInResults !== paid) fail(`the results come to ${paidInResults} paid, paid are ${paid}`);
    const possible = sumOf(
      states.filter(
        ({ reference }) => service.book.timesPaid(reference) > 0 || decisions.isSettled(reference),
      ),
    );
    if (net > possible) fail(`net_paid is ${net}, the book has ${possible}`);
  }

  /** What the independent reader finds, by the transfers that everybody can see. */
  function look({ account }: Life): Differences {
    const now = world.now();
    const rows = transfersOf(town, (entry) => entry.account === account && entry.shownFrom <= now);
    const [newest] = inspector.rows<{ id: number }>('select max(id) as id from history');
    const known = newest?.id ?? 0;
    const { findings } = readBooks(
      ordersOf(town, town.begunAt),
      { usable: true, rows, readAt: now, graceMs },
      { from: 0, through: known, known, counted: new Set() },
    );
    return new Set(findings.map(({ line, reference }) => `${line} ${reference}`));
  }

  function standings(): Standing[] {
    return inspector.rows<Standing>(
      'select reference, state, amount from payouts where history_seq > 0 order by id',
    );
  }

  return { look, judge };
}

function sumOf(states: readonly Standing[]): bigint {
  return states.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
