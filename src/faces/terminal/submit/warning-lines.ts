import { counted } from '../../../core/domain/counted.ts';
import type { Checked } from '../../../intake/check.ts';
import { groupMessages, rowNumbersText } from '../../../words/row-messages.ts';

/** `verbose`: one line for each row. `more`: the command that prints them all, if there is one. */
type Options = { verbose: boolean; more?: string };

/** The warnings of a file: one line for each message, with the number of rows and the first of them. */
export function warningLines(
  { rowWarnings, fileWarnings }: Pick<Checked, 'rowWarnings' | 'fileWarnings'>,
  { verbose, more }: Options,
): string[] {
  const ofFile = fileWarnings.map((text) => `  warning: ${text}`);
  if (verbose) return [...rowWarnings.map(({ row, text }) => `  warning: row ${row}: ${text}`), ...ofFile];
  const groups = groupMessages(rowWarnings.map(({ row, shared }) => ({ row, text: shared })));
  const ofRows = groups.flatMap(({ text, rows }, index) => {
    const [first] = rows;
    if (rows.length === 1) {
      const whole = rowWarnings.find((one) => one.row === first && one.shared === text);
      return [`  warning: row ${first}: ${whole?.text ?? text}`];
    }
    return [
      `  ${counted(rows.length, 'warning')}: ${text}`,
      `     ${rowNumbersText(rows)}${index === 0 && more !== undefined ? `   see: ${more}` : ''}`,
    ];
  });
  return [...ofRows, ...ofFile];
}
