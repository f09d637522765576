/** How each spreadsheet program saves a readable CSV. */
export const saveAsCsv =
  'save it as CSV in UTF-8 (Excel: File > Save As > CSV UTF-8 (Comma delimited); LibreOffice: File > Save As > Text CSV, character set Unicode (UTF-8); Google Sheets: File > Download > Comma-separated values)';

/** How each program formats a column of amounts plainly: a CSV holds what the cells show. */
export const plainNumbers =
  'in a spreadsheet show the column as 0.00 and save again (Excel: Format Cells > Custom > 0.00, point under File > Options > Advanced > Decimal separator; LibreOffice: Format > Cells > 0.00, Language English; Google Sheets: Format > Number > Custom > 0.00, File > Settings > Locale United States)';

/** How to keep account numbers and bank codes whole in a spreadsheet. */
export const saveAsText = 'format the column as text before typing or importing';
