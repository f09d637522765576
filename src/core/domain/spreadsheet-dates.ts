const month = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec';

/**
 * The forms in which spreadsheets show a text that they took for a date: `3-Nov`, `Nov-26`, `03-Nov-26`, `03/11/2026`.
 * The month has one capital, as programs write it; `3-NOV`, `NOV-26` and `2026-11-03` are ordinary references.
 */
const forms = [
  new RegExp(`^\\d{1,2}[- ](${month})([- ](\\d{2}|\\d{4}))?$`),
  new RegExp(`^(${month})[- ](\\d{2}|\\d{4})$`),
  /^\d{1,4}\/\d{1,2}\/\d{2,4}$/,
  /^\d{1,2}\.\d{1,2}\.\d{4}$/,
];

/** True for a text that a spreadsheet most likely made a date. */
export function isSpreadsheetDate(text: string): boolean {
  return forms.some((form) => form.test(text));
}
