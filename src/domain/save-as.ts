/** Where each spreadsheet program saves a table as the CSV that is read here. */
export const saveAsCsv =
  'save it as CSV in UTF-8 (Excel: File > Save As > CSV UTF-8 (Comma delimited); LibreOffice: File > Save As > Text CSV, character set Unicode (UTF-8); Google Sheets: File > Download > Comma-separated values)';

/** Where each program makes a column of amounts plain: what a CSV holds is what the cells show. */
export const plainNumbers =
  'in a spreadsheet show the column as 0.00 and save again (Excel: Format Cells > Custom > 0.00, point under File > Options > Advanced > Decimal separator; LibreOffice: Format > Cells > 0.00, Language English; Google Sheets: Format > Number > Custom > 0.00, File > Settings > Locale United States)';

/** What keeps account numbers and bank codes whole in a spreadsheet. */
export const asText = 'format the column as text before typing or importing';
