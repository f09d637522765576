import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import type { NamedCells } from '../../../books/sheet.ts';
import { differenceOf } from '../../../books/statement/difference.ts';
import { linesByCurrency } from '../../../books/statement/statement-figures.ts';
import {
  differs,
  exceptionLines,
  isCompared,
  type ListStanding,
  type Verdict,
  worstVerdict,
} from '../../../core/domain/verdict.ts';
import { differenceName, differenceWords, lineWords, overturnedWords } from '../../../words/line-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import type { Note } from './notes-sheet.ts';

/** The parts that the summary sheets share: rows of a {@link Note} sheet, each part after an empty row. */

/** What was compared, and the result for each currency. `statement`: the rows of statement.csv by their columns. */
export type ComparedRun = {
  list: ListStanding | null;
  verdicts: readonly RunVerdict[];
  statement: readonly NamedCells[];
};

export const heading = (text: string): Note[] =>
  [text, '', '', '', '', ''].map((cell) => ({ text: cell, look: 'heading' }));

/** A table's header on a summary sheet: a label, its currency, how many and how much, and a word more. */
export const headerRow = (label: string, count: string, word = ''): Note[] => [
  { text: label, look: 'header' },
  { text: 'Currency', look: 'header' },
  { text: count, look: 'header', across: 'right' },
  { text: 'Amount', look: 'header', across: 'right' },
  ...(word === '' ? [] : [{ text: word, look: 'header' } as const]),
];

/** Each currency with its verdict, and below it the lines of its statement that are not zero and should be. */
export function verdictPart({ list, verdicts, statement }: ComparedRun): Note[][] {
  const rows = verdicts.flatMap((one): Note[][] => {
    const first = verdictNotes(one.verdict, `${one.currency}: `);
    const difference = isCompared(one.verdict) ? differenceNotes(one.currency, statement) : [];
    const worst =
      one.overturned > 0n ? [[overturnedWords, one.currency, numberNote(`${one.overturned}`)]] : [];
    const beside = differs(one.verdict) ? exceptions(one.currency, statement) : [];
    return [first, ...worst, ...difference, ...beside];
  });
  const whole = verdictNotes(worstVerdict(list, []));
  return [[], heading('Verdict'), ...(rows.length > 0 ? rows : [whole])];
}

function verdictNotes(verdict: Verdict, about = ''): Note[] {
  const { sign, name, look } = verdictWords[verdict];
  return [{ text: `${about}${sign} ${name}`, look }, verdictWords[verdict].sentence];
}

/** Listed less net paid, and what that is made of. */
function differenceNotes(currency: string, statement: ComparedRun['statement']): Note[][] {
  const { amount, reasons } = differenceOf(linesByCurrency(statement).get(currency) ?? {});
  const parts = reasons.map(({ line, figure }): Note[] => {
    return [
      `of it: ${differenceName(line)}`,
      currency,
      numberNote(`${figure.count}`),
      numberNote(figure.amount),
    ];
  });
  return [[differenceWords, currency, '', numberNote(amount), 'listed less net paid'], ...parts];
}

/** Exceptions that are in no sum: counts without an amount. */
function exceptions(currency: string, statement: ComparedRun['statement']): Note[][] {
  const lines = linesByCurrency(statement).get(currency) ?? {};
  const inSum = new Set<string>(differenceOf(lines).reasons.map(({ line }) => line));
  const off = statement.filter(
    ({ currency: own, count, line = '' }) => own === currency && count !== '0' && !inSum.has(line),
  );
  return exceptionLines.flatMap((line): Note[][] => {
    const row = off.find((one) => one.line === line);
    if (!row) return [];
    return [[lineWords[line], currency, numberNote(row.count), numberNote(row.amount)]];
  });
}

/** A count or an amount, which keeps its digits. */
export function numberNote(text = '', look?: 'total'): Note {
  return { text, as: 'number', ...(look && { look }) };
}
