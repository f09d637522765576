import type { ClosedMonth } from '../../../books/closed-month.ts';
import { readableMonth } from '../../../books/presentation.ts';
import type { StatementLine } from '../../../books/statement/statement-lines.ts';
import { lineWords } from '../../../words/line-words.ts';
import { listSentence } from '../../../words/list-words.ts';
import type { Note } from './notes-sheet.ts';
import { sheetHolds, titleOf } from './run-summary.ts';
import { headerRow, heading, numberNote, verdictPart } from './summary-parts.ts';

/** The first sheet of a closed month's workbook: the verdict, who closed it and when, the digest, and lines to sign on. */
export function periodSummary(
  closed: ClosedMonth,
  { mode, shown, sheets }: { mode: string; shown: Shown; sheets: readonly string[] },
): Note[][] {
  const { period, comparedAt, list, verdicts, statement } = closed;
  const compared = comparedAt === null ? [] : [fact('Compared with the list of', shown(comparedAt))];
  return [
    [{ text: `${readableMonth(period.month)}, closed`, look: 'title' }],
    [{ text: `${mode} mode. Times: ${period.timezone}. ${listSentence(list)}`, look: 'soft' }],
    ...verdictPart({ list, verdicts, statement }),
    ...statementPart(closed),
    [],
    heading('Who closed it'),
    ['Closed by', period.closed_by],
    fact('Closed at', shown(period.closed_at)),
    fact('From', shown(period.starts_at)),
    fact('Up to', shown(period.ends_at)),
    ...compared,
    ['Digest (SHA-256)', period.digest],
    [],
    heading('Signed'),
    ...['Prepared by', 'Reviewed by'].flatMap((name): Note[][] => [
      [],
      [`${name} (name)`, line, line, line],
      ['Signature', line, line, line],
      ['Date', line, line, line],
    ]),
    [],
    heading('Sheets of this workbook'),
    ...sheets.map((name): Note[] => [titleOf(name), sheetHolds[name] ?? '']),
  ];
}

/** The lines that a signature stands for. The sheet Statement has all. */
const signed: StatementLine[] = [
  'opening',
  'submitted',
  'settled',
  'failed',
  'refused',
  'closing',
  'net_paid',
  'fees',
  'listed_by_service',
];

function statementPart({ verdicts, statement }: ClosedMonth): Note[][] {
  return verdicts.flatMap(({ currency }): Note[][] => {
    const rows = signed.flatMap((line): Note[][] => {
      const row = statement.find((one) => one.currency === currency && one.line === line);
      return row ? [[lineWords[line], currency, numberNote(row.count), numberNote(row.amount)]] : [];
    });
    return [[], headerRow(`Statement, ${currency}`, 'Payouts'), ...rows];
  });
}

/** An instant as the reports write it, in their zone. */
type Shown = (instant: string) => string;

const line: Note = { text: '\u00a0', look: 'heading' };

function fact(name: string, instant: string): Note[] {
  return [name, { text: instant, as: 'time' }];
}
