/** What makes a spreadsheet run a cell: = + - @, their full-width and small forms, the minus sign (OWASP, CSV injection). */
const runs = '=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212';
/** Also behind spaces, controls and marks that nobody sees, which some programs drop on import; a tab or line break alone. */
const opening = new RegExp(`^(?:[\\t\\r\\n]|[\\s\\p{Cc}\\p{Cf}]*[${runs}])`, 'u');
const opener = new RegExp(`[${runs}]`, 'u');
const separated = /[,;|\t\r\n]["'\s\p{Cf}]*/gu;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** True where some program would run the text as a formula, or a number stands behind a sign. */
export function opensFormula(text: string): boolean {
  return opening.test(text);
}

/**
 * A cell that no spreadsheet runs: a single quote in front where the text opens like a formula. Plain decimals such as
 * `-12.50` are none, in whatever column: they stay numbers.
 */
export function safeCell(text: string): string {
  return opensFormula(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/**
 * A text of a file with this delimiter in which nothing behind another separator opens like a formula: a program that
 * is set to split there would take that part for a cell, whatever quotes stand around the whole.
 */
export function unsplitCell(text: string, delimiter: string): string {
  return text.replaceAll(separated, (found, offset: number) => {
    const opens = opener.test(text.charAt(offset + found.length)) && !found.endsWith("'");
    const splits = found.split('').some((letter) => letter !== delimiter && /[,;|\t\r\n]/.test(letter));
    return opens && splits ? `${found}'` : found;
  });
}
