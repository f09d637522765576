/**
 * What makes a spreadsheet run a cell: = + - @, a tab or line break, their full-width forms and the minus sign, also
 * behind spaces, which some programs drop on import (OWASP, CSV injection).
 */
const opening = /^[ \u00a0\u3000\u200b\ufeff]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]/;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** A text cell that no spreadsheet runs: a single quote in front where the text opens like a formula, else unchanged. */
export function textCell(text: string): string {
  return opening.test(text) ? `'${text}` : text;
}

/** A cell of a column of numbers: plain decimals such as `-12.50` stay numbers, anything else is treated as text. */
export function numberCell(text: string): string {
  return plainNumber.test(text) ? text : textCell(text);
}
