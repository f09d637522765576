import type { BatchSums } from '../../../books/batch-sums.sql.ts';
import { periodFiles, periodFolder } from '../../../books/closed-month.ts';
import { readableMonth, readableTime } from '../../../books/presentation.ts';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { type CountedState, countedStates, isReplaced, replacedStates } from '../../../core/domain/payout.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import type { ListStanding, Verdict } from '../../../core/domain/verdict.ts';
import type { Period } from '../../../core/storage/tables/period-tables.ts';
import type { Batch, Run } from '../../../core/storage/tables/tables.ts';
import { keptReportsText } from '../../../words/kept-reports.ts';
import { stateWords } from '../../../words/state-words.ts';
import { verdictFaces } from '../../../words/verdict-faces.ts';
import type { BatchVerdict } from './batch-verdict.ts';
import {
  amountLines,
  downloads,
  type IndexColumn,
  share,
  tableRow,
  timeTag,
  verdictList,
} from './index-parts.ts';
import { escapeHtml, link } from './page-markup.ts';
import { runOpenMarkup } from './run-open.ts';
import { listWords } from './verdict-words.ts';

export const runColumns: IndexColumn[] = [
  { name: 'Reconciliation' },
  { name: 'Verdict' },
  { name: 'Needs a person' },
  { name: 'Service’s list' },
  { name: 'Files' },
];
export const monthColumns: IndexColumn[] = [
  { name: 'Month' },
  { name: 'Verdict' },
  { name: 'Closed' },
  { name: 'By' },
  { name: 'Files' },
];
export const indexBatchColumns: IndexColumn[] = [
  { name: 'Batch' },
  { name: 'Rows', number: true },
  { name: 'Ordered', number: true },
  { name: 'Paid', number: true },
  { name: 'Open' },
  { name: 'Verdict' },
  { name: 'Files' },
];

/** A run with what it found. `files`: those in its folder; `open`: its frozen sheet of that name. */
export function runRow(
  run: Run,
  known: { open: string[][] | undefined; verdicts: readonly RunVerdict[]; files: readonly string[] },
  { zone, keepDays }: { zone: string; keepDays: number },
): string {
  const folder = runFolder(run.id);
  const time = readableTime(run.started_at, zone);
  const name = known.files.includes('report.html')
    ? `<a href="${escapeHtml(encodeURIComponent(folder))}/report.html">${escapeHtml(time)}</a>`
    : escapeHtml(time);
  return tableRow(runColumns, `${name}<small>${escapeHtml(run.id)}</small>`, [
    verdictList(run.verdict, known.verdicts),
    runOpenMarkup(known.open, run.list_standing),
    listText(run.list_standing),
    known.files.length > 0
      ? downloads(folder, known.files, `run ${run.id}`)
      : `<small>${escapeHtml(keptReportsText(run.id, keepDays))}</small>`,
  ]);
}

function listText(list: ListStanding | null): string {
  if (list === 'complete') return 'complete';
  if (list === 'window') return 'to the edge of the window';
  return `<span class="bad">✗ ${escapeHtml(listWords[list ?? 'unread'])}</span>`;
}

/** A batch with who approved it, its money and what is open. */
export function batchRow(
  batch: Batch,
  known: { sums: BatchSums; verdict: BatchVerdict; files: readonly string[]; approvers: readonly string[] },
  zone: string,
): string {
  const { sums, verdict, files, approvers } = known;
  const paid = new Map([...sums.ordered.keys()].map((currency) => [currency, sums.paid.get(currency) ?? 0n]));
  const approved =
    approvers.length === 0 ? '' : ` · approved by ${escapeHtml([...new Set(approvers)].join(', '))}`;
  const about = `${escapeHtml(batch.file_name)} · ${timeTag(batch.created_at, zone)}${approved}`;
  return tableRow(indexBatchColumns, `${escapeHtml(batch.id)}<small>${about}</small>`, [
    grouped(`${batch.row_count}`),
    amountLines(sums.ordered, () => ''),
    amountLines(paid, (currency) => {
      const all = (paid.get(currency) ?? 0n) + (sums.paidElsewhere.get(currency) ?? 0n);
      const part = share(all, sums.ordered.get(currency) ?? 0n);
      return part === '' ? '' : `<small>${part}</small>`;
    }),
    statesText(sums.unpaid),
    verdictText(verdict, sums.open),
    downloads(batch.id, files, batch.id),
  ]);
}

/** Payouts that are not paid: those that may still be, then below them those that ended otherwise. */
function statesText(unpaid: ReadonlyMap<CountedState, bigint>): string {
  const ended = new Set<CountedState>(['failed', 'refused', 'cancelled', 'returned', ...replacedStates]);
  const texts = (isEnded: boolean): string =>
    countedStates
      .filter((state) => ended.has(state) === isEnded)
      .flatMap((state) => {
        const count = unpaid.get(state);
        return count === undefined
          ? []
          : [`${grouped(`${count}`)} ${isReplaced(state) ? stateWords[state] : state}`];
      })
      .join(' · ');
  const [open, over] = [texts(false), texts(true)];
  return `${open === '' ? '–' : open}${over === '' ? '' : `<small>${over}</small>`}`;
}

type Words = { sign: string; look: string; words: string };
const asRun = (verdict: Verdict): Words => {
  const { sign, look, name: words } = verdictFaces[verdict];
  return { sign, look, words };
};
const batchWords: Record<BatchVerdict['kind'], Words> = {
  exceptions: asRun('exceptions'),
  not_compared: asRun('not_compared'),
  changed_since: { sign: '○', look: 'none', words: 'changed since the last run' },
  nothing_sent: { sign: '○', look: 'none', words: 'nothing sent' },
  none_open: { sign: '○', look: 'none', words: 'no discrepancy open' },
  reconciled: asRun('reconciled'),
};

function verdictText({ kind }: BatchVerdict, open: bigint): string {
  const { sign, look, words } = batchWords[kind];
  const more = open > 0n ? `<small>${grouped(`${open}`)} open</small>` : '';
  return `<span class="${look}">${sign} ${words}</span>${more}`;
}

/** A closed month, by whom it was closed, and the verdict on each of its currencies. */
export function monthRow(
  period: Period,
  known: { whole: Verdict; verdicts: readonly RunVerdict[]; files: readonly string[] },
  zone: string,
): string {
  const folder = periodFolder(period.month);
  const [page = ''] = periodFiles;
  const name = readableMonth(period.month);
  const title = known.files.includes(page) ? link(`${folder}/${page}`, name) : escapeHtml(name);
  return tableRow(monthColumns, title, [
    verdictList(known.whole, known.verdicts),
    timeTag(period.closed_at, zone),
    escapeHtml(period.closed_by === '' ? 'not recorded' : period.closed_by),
    downloads(folder, known.files, name),
  ]);
}
