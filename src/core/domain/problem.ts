import { visible } from './hidden.ts';

/** A problem in a file. `row` 0: the file as a whole; row 1 is the header. `value` is cut at 100 characters. */
export type Problem = { row: number; column: string; value: string; problem: string; fix: string };

export function wholeFile(problem: string, fix: string): Problem {
  return { row: 0, column: '', value: '', problem, fix };
}

/** One clear sentence: `row 14, column amount: "1,000.5" has thousands separators; write 1000.5`. */
export function problemSentence({ row, column, value, problem, fix }: Problem): string {
  const place = [row > 0 ? `row ${row}` : '', column === '' ? '' : `column ${visible(column)}`]
    .filter((part) => part !== '')
    .join(', ');
  const seen = value === '' ? '' : `${visible(JSON.stringify(value))} `;
  return `${place === '' ? '' : `${place}: `}${seen}${problem}; ${fix}`;
}
