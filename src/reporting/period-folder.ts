import { periodSheets } from './periods.sql.ts';

/** The folder of a closed month below the reports. */
export function periodFolder(month: string): string {
  return `period-${month}`;
}

/** The files of a closed month for people. They open the first. */
export const periodReadable = ['report.html', 'report.xlsx'] as const;

/** All files of a closed month. */
export const periodFiles: readonly string[] = [
  ...periodReadable,
  ...periodSheets.map((sheet) => `${sheet}.csv`),
];
