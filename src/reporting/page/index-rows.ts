import { grouped } from '../../domain/counted.ts';
import { isUsable, type ListStanding, type Verdict } from '../../domain/verdict.ts';
import type { Period } from '../../storage/tables/period-tables.ts';
import type { Batch, Run } from '../../storage/tables/tables.ts';
import { periodFolder } from '../period-folder.ts';
import { periodSheets } from '../periods.sql.ts';
import { runSheets } from '../run-files.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import { records } from '../sheet.ts';
import { badge, escapeHtml, link, markup } from './page-markup.ts';
import { when } from './page-words.ts';
import { listWords } from './verdict-words.ts';

/** `exists` says whether a batch's or run's folder holds a file that is not always written. */
type About = { zone: string; exists: (of: string, name: string) => boolean };
const gravity = ['high', 'medium', 'low'];

/** What the ledger keeps of a frozen run for the index; an older run may lack either. */
type Frozen = { open: string[][] | undefined; verdicts: readonly RunVerdict[] };

export const runColumns = ['Report', 'Open discrepancies', 'Statement', 'Service’s list', 'Begun', 'Files'];
export const monthColumns = ['Month', 'Closed', 'Files'];
export const batchColumns = ['Batch', 'File', 'Taken in', 'Rows', 'Not paid', 'Open discrepancies', 'Files'];

/** A run with what it found, from its frozen sheets. */
export function runRow(run: Run, frozen: Frozen, { zone, exists }: About): string {
  const folder = `reconciliation-${run.id}`;
  // A run made before report.html existed has none: report RUN writes it.
  const page = exists(run.id, 'report.html');
  const names = [
    ...(page ? ['report.xlsx'] : []),
    ...runSheets.map((sheet) => `${sheet}.csv`).filter((name) => !page || exists(run.id, name)),
    ...(run.summary === null ? [] : ['summary.json']),
  ];
  const cells = [
    openText(frozen.open, run.list_standing),
    verdictText(run.verdict, frozen.verdicts),
    listText(run.list_standing),
    time(run.started_at, zone),
    names.map((name) => link(`${folder}/${name}`, name, run.id)).join(' · '),
  ];
  return row(runColumns, page ? link(`${folder}/report.html`, run.id) : escapeHtml(run.id), cells);
}

/**
 * Batches, each with its unpaid part and its open discrepancies. `comparedAt`: when the last run began, if it could
 * compare (ISO UTC), else null. Batches taken in later were not compared.
 */
export function batchRows(
  batches: Batch[],
  standings: Map<string, Record<string, bigint>>,
  { zone, exists, comparedAt }: About & { comparedAt: string | null },
): string {
  const rows = batches.map((batch) => {
    const { open = 0n, ...unpaid } = standings.get(batch.id) ?? {};
    const isCompared = comparedAt !== null && comparedAt > batch.created_at;
    const states = Object.entries(unpaid).map(([state, count]) => `${grouped(`${count}`)} ${state}`);
    const names = [
      'results.csv',
      ...(exists(batch.id, 'results.xlsx') ? ['results.xlsx'] : []),
      ...(exists(batch.id, 'failed.csv') ? ['failed.csv'] : []),
    ];
    return row(batchColumns, escapeHtml(batch.id), [
      escapeHtml(batch.file_name),
      time(batch.created_at, zone),
      grouped(`${batch.row_count}`),
      states.length > 0 ? escapeHtml(states.join(' · ')) : allPaid(open === 0n && isCompared),
      openOfBatch(open, isCompared),
      names.map((name) => link(`${batch.id}/${name}`, name, batch.id)).join(' · '),
    ]);
  });
  return rows.join('');
}

/** Never green while something contradicts it, or nothing could be checked. */
function allPaid(isClean: boolean): string {
  return isClean ? '<span class="good">✓ all paid</span>' : 'all reported as paid';
}

function openOfBatch(open: bigint, isCompared: boolean): string {
  if (open === 0n) return isCompared ? 'none' : 'not checked';
  const words = `<span class="bad">${grouped(`${open}`)} open</span>`;
  return isCompared ? words : `${words}, others not checked`;
}

/** A closed month with its frozen files. */
export function monthRow({ month, closed_at }: Period, zone: string): string {
  const folder = periodFolder(month);
  const links = periodSheets.map((sheet) => link(`${folder}/${sheet}.csv`, `${sheet}.csv`, month));
  return row(monthColumns, escapeHtml(month), [time(closed_at, zone), links.join(' · ')]);
}

function openText(sheet: string[][] | undefined, list: ListStanding | null): string {
  if (sheet === undefined) return 'not counted';
  const open = records(sheet).filter(({ state }) => state === 'open');
  const parts = gravity.flatMap((severity) => {
    const count = open.reduce(
      (sum, one) => sum + (one.severity === severity ? BigInt(one.count ?? '0') : 0n),
      0n,
    );
    return count > 0n ? [markup(badge(severity, `${grouped(`${count}`)} ${severity}`))] : [];
  });
  if (!isUsable(list)) parts.push('not checked');
  return parts.length > 0 ? parts.join(' ') : '<span class="good">✓ none</span>';
}

/** How many currencies are named with their verdict. */
const mostNamed = 6;

const verdictTexts: Record<Verdict, { sign: string; look: string; words: string }> = {
  reconciled: { sign: '✓', look: 'good', words: 'reconciled' },
  exceptions: { sign: '✗', look: 'bad', words: 'exceptions' },
  not_compared: { sign: '–', look: 'bad', words: 'not compared' },
};

/** The verdict on each currency, or on the whole run when no money moved. */
function verdictText(whole: Verdict | null, currencies: readonly RunVerdict[]): string {
  if (whole === null) return 'made before verdicts were kept';
  const named = currencies.slice(0, mostNamed).map(({ currency, verdict }) => {
    const { sign, look, words } = verdictTexts[verdict];
    const mark = `data-currency="${escapeHtml(currency)}" data-verdict="${verdict}"`;
    return `<span class="${look}" ${mark}>${sign} ${escapeHtml(currency)} ${words}</span>`;
  });
  if (named.length === 0) {
    const { sign, look, words } = verdictTexts[whole];
    return whole === 'reconciled' ? 'nothing to state' : `<span class="${look}">${sign} ${words}</span>`;
  }
  const more = currencies.length - named.length;
  return named.join('<br>') + (more > 0 ? `<br>and ${more} more currencies` : '');
}

function listText(list: ListStanding | null): string {
  if (list === 'complete') return '<span class="good">✓ complete</span>';
  if (list === 'window') return 'to the edge of the window';
  return `<span class="bad">✗ ${escapeHtml(listWords[list ?? 'unread'])}</span>`;
}

/** A row under these columns, the first of which heads it. */
function row([, ...columns]: readonly string[], header: string, cells: string[]): string {
  const data = cells.map((cell, index) => {
    const name = columns[index] ?? '';
    return `<td${name === 'Rows' ? ' class="number"' : ''} data-label="${escapeHtml(name)}">${cell}</td>`;
  });
  return `<tr><th scope="row">${header}</th>${data.join('')}</tr>\n`;
}

function time(instant: string, zone: string): string {
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(when(instant, zone))}</time>`;
}
