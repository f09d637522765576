/** What makes a spreadsheet run a cell: = + - @, their full-width and small forms, the minus sign (OWASP, CSV injection). */
const runs = '=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212';
/** Also behind spaces, controls and marks that nobody sees, which some programs drop on import; a tab or line break alone. */
const opening = new RegExp(`^(?:[\\t\\r\\n]|[\\s\\p{Cc}\\p{Cf}]*[${runs}])`, 'u');
const opener = new RegExp(`[${runs}]`, 'u');
const separated = /[,;|\t\r\n]["'\s\p{Cf}]*/gu;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** A text cell that no spreadsheet runs: a single quote in front where the text opens like a formula, else unchanged. */
export function textCell(text: string): string {
  return opening.test(text) ? `'${text}` : text;
}

/** A cell of a column of numbers: plain decimals such as `-12.50` stay numbers, anything else is treated as text. */
export function numberCell(text: string): string {
  return plainNumber.test(text) ? text : textCell(text);
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
