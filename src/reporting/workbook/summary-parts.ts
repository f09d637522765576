import { exceptionLines, isUsable, type ListStanding, type Verdict } from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import type { NamedCells } from '../sheet.ts';
import { lineWords, overturnedWords } from '../statement/line-words.ts';
import { verdictLooks } from './looks.ts';
import type { Note } from './notes-sheet.ts';

/** The parts that the summary sheets share: rows of a {@link Note} sheet, each part after an empty row. */

/** What was compared, and the result for each currency. `statement`: the rows of statement.csv by their columns. */
export type Judged = {
  list: ListStanding | null;
  verdicts: readonly RunVerdict[];
  statement: readonly NamedCells[];
};

/** How far a run's list can be used, as a sentence. */
const listSentences: Record<ListStanding, string> = {
  complete: 'The service’s list was read completely.',
  window: 'The service’s list was read back to the edge of the window.',
  shows_none: 'The service’s list shows none of our payouts.',
  not_ours: 'The service’s list may be another account’s.',
  incomplete: 'The service’s list was not proven complete.',
  unread: 'The service’s list could not be read.',
};
export const listSentence = (list: ListStanding | null): string => listSentences[list ?? 'unread'];

const verdictWords: Record<Verdict, [word: string, sentence: string]> = {
  reconciled: ['✓ reconciled', 'Every payout and every listed transfer is explained.'],
  exceptions: ['✗ exceptions', 'Do not sign off before these lines are explained:'],
  not_compared: ['○ not compared', 'Paid amounts rest on earlier evidence only. Do not sign off.'],
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
export function verdictPart({ list, verdicts, statement }: Judged): Note[][] {
  const rows = verdicts.flatMap((one): Note[][] => {
    const [word, sentence] = verdictWords[one.verdict];
    const first: Note[] = [{ text: `${one.currency}: ${word}`, look: verdictLooks[one.verdict] }, sentence];
    return one.verdict === 'exceptions' ? [first, ...exceptions(one, statement)] : [first];
  });
  const none = isUsable(list) ? 'No money moved: there is nothing to state.' : 'Not checked.';
  return [[], heading('Verdict'), ...(rows.length > 0 ? rows : [[none]])];
}

function exceptions(
  { currency, overturned }: Pick<RunVerdict, 'currency' | 'overturned'>,
  statement: Judged['statement'],
): Note[][] {
  const off = statement.filter((row) => row.currency === currency && row.count !== '0');
  const lines = exceptionLines.flatMap((line): Note[][] => {
    const row = off.find((one) => one.line === line);
    if (!row) return [];
    return [[lineWords[line], currency, number(row.count), number(row.amount)]];
  });
  return overturned > 0n ? [[overturnedWords, currency, number(`${overturned}`)], ...lines] : lines;
}

/** A count or an amount, which keeps its digits. */
export function number(text = '', look?: 'total'): Note {
  return { text, as: 'number', ...(look && { look }) };
}
