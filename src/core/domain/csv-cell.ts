/** Characters that make a spreadsheet run a cell: = + - @, their other widths, the minus sign (OWASP, CSV injection). */
const runs = '=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212';
/** Also after spaces, controls and invisible marks, which some programs drop; a leading tab or line break alone. */
const opening = new RegExp(`^(?:[\\t\\r\\n]|[\\s\\p{Cc}\\p{Cf}]*[${runs}])`, 'u');
const opener = new RegExp(`[${runs}]`, 'u');
const separated = /[,;|\t\r\n\u2028\u2029]["'\s\p{Cf}]*/gu;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** True where some program would run the text as a formula, or read a signed number. */
export function opensFormula(text: string): boolean {
  return opening.test(text);
}

/**
 * Returns a cell that no spreadsheet runs: a text that opens like a formula gets a single quote in front. Plain
 * decimals such as `-12.50` stay numbers, in any column.
 */
export function safeCell(text: string): string {
  return opensFormula(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/**
 * Protects a text against programs that split at another separator than the file's delimiter, despite quotes. After
 * each such separator, a part that would open like a formula gets a quote.
 */
export function unsplitCell(text: string, delimiter: string): string {
  return text.replaceAll(separated, (separator, offset: number) => {
    const opens = opener.test(text.charAt(offset + separator.length)) && !separator.endsWith("'");
    const splits = separator
      .split('')
      .some((letter) => letter !== delimiter && /[,;|\t\r\n\u2028\u2029]/.test(letter));
    return opens && splits ? `${separator}'` : separator;
  });
}
