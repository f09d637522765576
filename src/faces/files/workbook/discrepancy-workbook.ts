import { ageDays } from '../../../books/ageing.ts';
import { discrepancySheet } from '../../../books/discrepancy-cells.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { type Layout, ownColumns } from './columns.ts';
import { writeWorkbook, xlsxRowLimit } from './xlsx-file.ts';

/** The columns of discrepancies.csv, its note under another name, and the two that a person fills in. */
const columns = [
  ...discrepancySheet.header.map((name) => (name === 'note' ? 'note_so_far' : name)),
  'decision',
  'note',
];
/** What was compared stays text, digit for digit, and so do times: people save this file with any program. */
const exact = new Set(['expected', 'actual']);
const layout: Layout = (header) =>
  ownColumns(header, false).map((column, at) =>
    column.kind === 'time' || exact.has(header[at] ?? '') ? { kind: 'text' } : column,
  );

/** The workbook in which people decide about discrepancies, and how many rows it can hold. */
export function createDiscrepancyWorkbook({ config }: { config: Config }) {
  const zone = config.reports.timezone;
  return {
    limit: Number(xlsxRowLimit),
    /** Writes them in their order, as of `now` in milliseconds. */
    async write(path: string, found: readonly Discrepancy[], now: number): Promise<void> {
      const at = new Date(now).toISOString();
      const rows = found.map((line) => {
        const age = ageDays(line.first_seen_at, at);
        return [...discrepancySheet.cells({ ...line, ageDays: age, zone, action: actionFor(line) }), '', ''];
      });
      await writeWorkbook(path, [{ name: 'discrepancies', rows: [columns, ...rows], layout }]);
    },
  };
}
