import type { OpenGroup } from '../../../books/discrepancies/discrepancies.sql.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { severities } from '../../../core/domain/discrepancy-kinds.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { severityColours } from './colours.ts';
import type { Terminal } from './terminal.ts';

/** More kinds would hide the next step below them. */
const most = 8;

/** What is open, the gravest first: a line for each kind, or for the only discrepancy of it. */
export function openTable(groups: readonly OpenGroup[], terminal: Terminal, nowMs: number): string[] {
  const shown = groups.slice(0, most);
  const rest = groups.slice(most).reduce((sum, { count }) => sum + count, 0);
  const rows = shown.map((one) => ({
    ...one,
    which: one.count === 1 ? one.reference || one.subject : `${grouped(`${one.count}`)} of them`,
    difference: one.count === 1 ? one.difference : '',
  }));
  const lines = discrepancyTable(rows, terminal, nowMs);
  return rest > 0 ? [...lines, `  and ${grouped(`${rest}`)} more`] : lines;
}

type Row = Pick<Discrepancy, 'severity' | 'kind' | 'difference'> & { which: string; since: string };

export function discrepancyTable(rows: readonly Row[], terminal: Terminal, nowMs: number): string[] {
  return terminal.table(
    [
      {
        title: 'Severity',
        cell: ({ severity }) => ({ text: severity, colour: severityColours[severity] }),
      },
      { title: 'What', cell: ({ kind }) => plainKind(kind) },
      { title: 'Which', cell: ({ which }) => which },
      { title: 'Difference', right: true, optional: true, cell: differenceText },
      { title: 'Age', right: true, cell: ({ since }) => ageText(since, nowMs) },
    ],
    rows,
  );
}

function differenceText({ difference }: Row): string {
  if (difference === '') return '';
  return difference.startsWith('-') ? grouped(difference) : `+${grouped(difference)}`;
}

/** `13 open: 3 high, 2 medium`. */
export function openSummary(groups: readonly OpenGroup[]): string {
  const parts = severities.flatMap((severity) => {
    const n = groups.reduce((sum, one) => sum + (one.severity === severity ? one.count : 0), 0);
    return n === 0 ? [] : [`${grouped(`${n}`)} ${severity}`];
  });
  return parts.join(', ');
}

const minuteMs = 60_000;
const units: readonly [name: string, ms: number][] = [
  ['d', 24 * 60 * minuteMs],
  ['h', 60 * minuteMs],
  ['min', minuteMs],
];

/** How long ago an instant was, in its largest unit: `2 d`, `4 h`, `5 min`; `now` below a minute. */
function ageText(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant);
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ['', 1];
  return name === '' ? 'now' : `${Math.floor(ms / size)} ${name}`;
}
