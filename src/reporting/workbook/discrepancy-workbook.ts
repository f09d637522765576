import type { Config } from '../../settings/settings.ts';
import type { Discrepancy } from '../../storage/tables/tables.ts';
import { ageDays } from '../ageing.ts';
import { discrepancySheet } from '../discrepancy-cells.ts';
import { writeWorkbook, xlsxRowLimit } from './xlsx-file.ts';

/** The columns of discrepancies.csv, its note under another name, and the two that a person fills in. */
const columns = [
  ...discrepancySheet.header.map((name) => (name === 'note' ? 'note_so_far' : name)),
  'decision',
  'note',
];
const numbers = new Set(['difference', 'age_days'].map((name) => columns.indexOf(name)));

/** The workbook in which people decide about discrepancies, and how many rows it can hold. */
export function createDiscrepancyWorkbook({ config }: { config: Config }) {
  const zone = config.reports.timezone;
  return {
    limit: Number(xlsxRowLimit),
    /** Writes them in their order, as of `now` in milliseconds; expected and actual stay text, digit for digit. */
    async write(path: string, found: readonly Discrepancy[], now: number): Promise<void> {
      const at = new Date(now).toISOString();
      const rows = found.map((line) => {
        const age = ageDays(line.first_seen_at, at);
        return [...discrepancySheet.cells({ line, ageDays: age, zone }), '', ''];
      });
      await writeWorkbook(path, [{ name: 'discrepancies', rows: [columns, ...rows], numbers }]);
    },
  };
}
