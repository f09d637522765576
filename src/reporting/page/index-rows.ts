import { z } from 'zod';
import { periodFolder } from '../../domain/period-folder.ts';
import { periodSheets } from '../../ledger/figures/periods.ts';
import type { Period } from '../../ledger/tables/period-tables.ts';
import type { Batch, Run } from '../../ledger/tables/tables.ts';
import { runSheets } from '../run-files.ts';
import { badge, escapeHtml, link, markup } from './page-markup.ts';
import { verdicts } from './page-statement.ts';
import { grouped, records, when } from './page-words.ts';

/** `exists` says whether a batch's or run's folder holds a file that is not always written. */
type About = { zone: string; exists: (of: string, name: string) => boolean };
const summaryShape = z.object({ complete: z.union([z.boolean(), z.literal('window')]).optional() });
const gravity = ['high', 'medium', 'low'];

type Frozen = (name: 'open' | 'statement') => string[][] | undefined;

/** A run with what it found, from its frozen sheets. */
export function runRow(run: Run, frozen: Frozen, { zone, exists }: About): string {
  const folder = `reconciliation-${run.id}`;
  const summary = run.summary === null ? {} : summaryShape.parse(JSON.parse(run.summary));
  // Runs made before the page was have none: report RUN writes it.
  const page = exists(run.id, 'report.html');
  const names = [
    ...(page ? ['report.xlsx'] : []),
    ...runSheets.map((sheet) => `${sheet}.csv`).filter((name) => !page || exists(run.id, name)),
    ...(run.summary === null ? [] : ['summary.json']),
  ];
  const cells = [
    openText(frozen('open')),
    tieText(frozen('statement')),
    listText(summary.complete),
    time(run.started_at, zone),
    names.map((name) => link(`${folder}/${name}`, name, run.id)).join(' · '),
  ];
  return row(page ? link(`${folder}/report.html`, run.id) : escapeHtml(run.id), cells);
}

/** Batches with what is not paid of each, and how many of its discrepancies are open. */
export function batchRows(
  batches: Batch[],
  standings: Map<string, Record<string, bigint>>,
  { zone, exists }: About,
): string {
  const rows = batches.map((batch) => {
    const { open = 0n, ...unpaid } = standings.get(batch.id) ?? {};
    const states = Object.entries(unpaid).map(([state, count]) => `${grouped(`${count}`)} ${state}`);
    const names = [
      'results.csv',
      ...(exists(batch.id, 'results.xlsx') ? ['results.xlsx'] : []),
      ...(exists(batch.id, 'failed.csv') ? ['failed.csv'] : []),
    ];
    return row(escapeHtml(batch.id), [
      escapeHtml(batch.file_name),
      time(batch.created_at, zone),
      grouped(`${batch.row_count}`),
      states.length > 0 ? escapeHtml(states.join(' · ')) : '<span class="good">✓ all paid</span>',
      open > 0n ? `<span class="bad">${grouped(`${open}`)} open</span>` : 'none',
      names.map((name) => link(`${batch.id}/${name}`, name, batch.id)).join(' · '),
    ]);
  });
  return rows.join('');
}

/** A closed month with its frozen files. */
export function monthRow({ mode, month, closed_at }: Period, zone: string): string {
  const folder = periodFolder(mode, month);
  const links = periodSheets.map((sheet) => link(`${folder}/${sheet}.csv`, `${sheet}.csv`, month));
  return row(escapeHtml(month), [time(closed_at, zone), links.join(' · ')]);
}

function openText(sheet: string[][] | undefined): string {
  if (sheet === undefined) return 'not counted';
  const open = records(sheet).filter(({ state }) => state === 'open');
  const parts = gravity.flatMap((severity) => {
    const count = open.reduce(
      (sum, one) => sum + (one.severity === severity ? BigInt(one.count ?? '0') : 0n),
      0n,
    );
    return count > 0n ? [markup(badge(severity, `${grouped(`${count}`)} ${severity}`))] : [];
  });
  return parts.length > 0 ? parts.join(' ') : '<span class="good">✓ none</span>';
}

function tieText(sheet: string[][] | undefined): string {
  const all = verdicts(sheet);
  const loose = all.filter(({ ties }) => !ties).map(({ currency }) => currency);
  if (loose.length > 0)
    return `<span class="bad">✗ ${escapeHtml(loose.slice(0, 6).join(', '))} does not tie</span>`;
  return all.length === 0 ? 'nothing to state' : '<span class="good">✓ ties</span>';
}

function listText(complete: boolean | 'window' | undefined): string {
  if (complete === true) return '<span class="good">✓ complete</span>';
  if (complete === 'window') return 'to the edge of the window';
  return '<span class="bad">✗ not proven complete</span>';
}

function row(header: string, cells: string[]): string {
  const data = cells.map(
    (cell, index) => `<td${/^\d[\d,]*$/.test(cell) && index === 2 ? ' class="number"' : ''}>${cell}</td>`,
  );
  return `<tr><th scope="row">${header}</th>${data.join('')}</tr>\n`;
}

function time(instant: string, zone: string): string {
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(when(instant, zone))}</time>`;
}
