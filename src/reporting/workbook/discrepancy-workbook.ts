import type { Config } from '../../settings/settings.ts';
import type { Discrepancy } from '../../storage/tables/tables.ts';
import { discrepancyCells, discrepancyColumns } from '../discrepancy-cells.ts';
import { writeWorkbook, xlsxRowLimit } from './xlsx-file.ts';

/** The columns of discrepancies.csv, its note under another name, and the two that a person fills in. */
const columns = [
  ...discrepancyColumns.map((name) => (name === 'note' ? 'note_so_far' : name)),
  'decision',
  'note',
];
const numbers = new Set(['difference', 'age_days'].map((name) => columns.indexOf(name)));
const dayMs = 86_400_000;

/** The workbook in which people decide about discrepancies, and how many rows it can hold. */
export function createDiscrepancyWorkbook({ config }: { config: Config }) {
  const { timezone } = config.reports;
  return {
    limit: Number(xlsxRowLimit),
    /** Writes them in their order, as of `now` in milliseconds; expected and actual stay text, digit for digit. */
    async write(path: string, found: readonly Discrepancy[], now: number): Promise<void> {
      const rows = found.map((one) => {
        const days = Math.max(0, Math.floor((now - Date.parse(one.first_seen_at)) / dayMs));
        return [...discrepancyCells(one, days, timezone), '', ''];
      });
      await writeWorkbook(path, [{ name: 'discrepancies', rows: [columns, ...rows], numbers }]);
    },
  };
}
