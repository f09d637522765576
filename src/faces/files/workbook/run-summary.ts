import { type NamedCells, records } from '../../../books/sheet.ts';
import { severities } from '../../../core/domain/discrepancy-kinds.ts';
import { isUsable } from '../../../core/domain/verdict.ts';
import { listSentence } from '../../../words/list-words.ts';
import { lookOf } from './looks.ts';
import type { Note } from './notes-sheet.ts';
import { type ComparedRun, headerRow, heading, numberNote, verdictPart } from './summary-parts.ts';

/** What a run's summary sheet says. `sheets`: the frozen sheets by name, header first; `names`: the workbook's tables. */
type RunFacts = Omit<ComparedRun, 'statement'> & {
  /** Such as `Reconciliation, 22 Nov 2026, 16:00`. */
  title: string;
  run: string;
  mode: string;
  zone: string;
  sheets: Record<string, string[][] | undefined>;
  names: readonly string[];
};

/** What each table holds, in the order of the workbook. */
export const sheetHolds: Record<string, string> = {
  action: 'What needs a person, the gravest first',
  statement: 'The statement of each currency, line by line',
  payouts: 'Every payout, with what the service lists for it',
  discrepancies: 'Every difference, with its evidence and the next step',
  ageing: 'Ageing of open items',
  collections: 'Money that was expected to arrive',
  states: 'Where the payouts stand',
  days: 'Sent and paid on each day',
  failures: 'Why payouts failed',
  banks: 'Payouts by bank',
  fees: 'Fees on each day',
  settle_times: 'How long payments took',
  'statement-rows': 'The rows behind each line of the statement',
  'totals-by-column': 'What was paid, in all and by each column of your files',
  approvals: 'Who dropped and who approved what, and when',
  'open-discrepancies': 'How many discrepancies were open when the month was closed',
};

/** The first sheet of report.xlsx: the verdict, where the money is and what needs a person, in words. */
export function runSummary(facts: RunFacts): Note[][] {
  const { title, run, mode, zone, list, verdicts, sheets, names } = facts;
  const tables = names.map((name): Note[] => [titleOf(name), sheetHolds[name] ?? '']);
  return [
    [{ text: title, look: 'title' }],
    [{ text: `${mode} mode. Times: ${zone}. ${listSentence(list)} Name in files: ${run}.`, look: 'soft' }],
    ...verdictPart({ list, verdicts, statement: records(sheets.statement) }),
    [],
    heading('Where the money is'),
    ...statePart(records(sheets.states)),
    [],
    heading('What needs a person'),
    ...openPart(records(sheets.open), isUsable(list)),
    [],
    heading('Sheets of this workbook'),
    ...tables,
  ];
}

function statePart(rows: NamedCells[]): Note[][] {
  if (rows.length === 0) return [['No payouts yet.']];
  const look = lookOf('state');
  return [
    headerRow('State', 'Payouts'),
    ...rows.map(({ currency = '', state = '', count, amount }): Note[] => [
      { text: state, look: look?.(state) ?? 'plain' },
      currency,
      numberNote(count),
      numberNote(amount),
    ]),
  ];
}

const gravity: readonly string[] = severities;

/** The gravest first. Where nothing could be looked for, nothing says that none is open. */
function openPart(rows: NamedCells[], isCompared: boolean): Note[][] {
  const open = rows
    .filter(({ state }) => state === 'open')
    .toSorted((a, b) => gravity.indexOf(a.severity ?? '') - gravity.indexOf(b.severity ?? ''));
  if (open.length === 0)
    return [[isCompared ? 'Nothing: no discrepancy is open.' : 'Not checked: the list was not usable.']];
  const look = lookOf('severity');
  const others: Note[][] = isCompared ? [] : [['Others were not checked: the list was not usable.']];
  return [
    headerRow('Discrepancy', 'Open', 'Severity'),
    ...open.map(({ currency = '', severity = '', kind = '', count, amount }): Note[] => [
      sentenceCase(kind.replaceAll('_', ' ')),
      currency,
      numberNote(count),
      numberNote(amount),
      { text: severity, look: look?.(severity) ?? 'plain' },
    ]),
    ...others,
  ];
}

/** `settle_times` as `Settle times`; a workbook allows 31 characters. */
export function titleOf(name: string): string {
  return sentenceCase(name.replaceAll(/[_-]/g, ' ')).slice(0, 31);
}

function sentenceCase(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
