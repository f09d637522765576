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
import { keptReportsTexts } from '../../../words/kept-reports.ts';
import { listWords } from '../../../words/list-words.ts';
import { stateWords } from '../../../words/state-words.ts';
import { type VerdictLook, verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { batchMark, link } from '../kit/parts.ts';
import type { HtmlCell, HtmlColumn } from '../kit/table.ts';
import type { BatchVerdict } from './batch-verdict.ts';
import { amountLines, downloads, openText, share, timeTag, verdictList } from './index-parts.ts';

export const runColumns: readonly HtmlColumn[] = [
  'Reconciliation',
  'Verdict',
  'Needs a person',
  'Service’s list',
  'Files',
];
export const monthColumns: readonly HtmlColumn[] = ['Month', 'Verdict', 'Closed', 'By', 'Files'];
export const indexBatchColumns: readonly HtmlColumn[] = [
  'Batch',
  { number: 'Rows' },
  { number: 'Ordered' },
  { number: 'Paid' },
  'Open',
  'Verdict',
  'Files',
];

/**
 * A run with what it found. `files`: those in its folder; `open`: its frozen sheet of that name. `seconds`: its time
 * has them.
 */
export function runRow(
  run: Run,
  known: { open: string[][] | undefined; verdicts: readonly RunVerdict[]; files: readonly string[] },
  { zone, keepDays, seconds = false }: { zone: string; keepDays: number; seconds?: boolean },
): HtmlCell[] {
  const folder = runFolder(run.id);
  const time = readableTime(run.started_at, zone, seconds);
  const name = known.files.includes('report.html')
    ? html`<a href="${encodeURIComponent(folder)}/report.html">${time}</a>`
    : time;
  return [
    html`${name}<small>${run.id}</small>`,
    verdictList(run.verdict, known.verdicts),
    openText(known.open, run.list_standing),
    listText(run.list_standing),
    known.files.length > 0
      ? downloads(folder, known.files, `the reconciliation of ${time}`)
      : html`<small>${keptReportsTexts(run.id, keepDays).command}</small>`,
  ];
}

function listText(list: ListStanding | null): HtmlCell {
  const { cell, start } = listWords[list ?? 'unread'];
  return cell ?? html`<span class="bad">✗ ${start}</span>`;
}

/** A batch with who approved it, its money and what is open. */
export function batchRow(
  batch: Batch,
  known: { sums: BatchSums; verdict: BatchVerdict; files: readonly string[]; approvers: readonly string[] },
  zone: string,
): HtmlCell[] {
  const { sums, verdict, files, approvers } = known;
  const paid = new Map([...sums.ordered.keys()].map((currency) => [currency, sums.paid.get(currency) ?? 0n]));
  const approved = approvers.length === 0 ? '' : ` · approved by ${[...new Set(approvers)].join(', ')}`;
  return [
    html`${batchMark(batch.id)}<small>${batch.file_name} · ${timeTag(batch.created_at, zone)}${approved}</small>`,
    grouped(`${batch.row_count}`),
    amountLines(sums.ordered, () => false),
    amountLines(paid, (currency) => {
      const all = (paid.get(currency) ?? 0n) + (sums.paidElsewhere.get(currency) ?? 0n);
      const part = share(all, sums.ordered.get(currency) ?? 0n);
      return part !== '' && html`<small>${part}</small>`;
    }),
    statesText(sums.unpaid),
    verdictText(verdict, sums.open),
    downloads(batch.id, files, batch.id),
  ];
}

/** Payouts that are not paid: those that may still be, then below them those that ended otherwise. */
function statesText(unpaid: ReadonlyMap<CountedState, bigint>): Html {
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
  return html`${open === '' ? '–' : open}${over !== '' && html`<small>${over}</small>`}`;
}

const batchWords: Record<BatchVerdict, { sign: string; look: VerdictLook; name: string }> = {
  ...verdictWords,
  changed_since: { sign: '○', look: 'none', name: 'changed since the last run' },
  nothing_sent: { sign: '○', look: 'none', name: 'nothing sent' },
  none_open: { sign: '○', look: 'none', name: 'no discrepancy open' },
};

function verdictText(verdict: BatchVerdict, open: bigint): Html {
  const { sign, look, name } = batchWords[verdict];
  const more = open > 0n && html`<small>${grouped(`${open}`)} open</small>`;
  return html`<span class="${look}">${sign} ${name}</span>${more}`;
}

/** A closed month, by whom it was closed, and the verdict on each of its currencies. */
export function monthRow(
  period: Period,
  known: { whole: Verdict; verdicts: readonly RunVerdict[]; files: readonly string[] },
  zone: string,
): HtmlCell[] {
  const folder = periodFolder(period.month);
  const [page = ''] = periodFiles;
  const name = readableMonth(period.month);
  const title = known.files.includes(page) ? link(`${folder}/${page}`, name) : name;
  return [
    title,
    verdictList(known.whole, known.verdicts),
    timeTag(period.closed_at, zone),
    period.closed_by === '' ? 'not recorded' : period.closed_by,
    downloads(folder, known.files, name),
  ];
}
