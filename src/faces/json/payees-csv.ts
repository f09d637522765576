import { zoned } from '../../books/presentation.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { JsonOf } from '../../core/shapes/json-shapes.ts';
import { payeeShape } from '../../core/shapes/list-shapes.ts';
import { csvText } from '../files/csv-writer.ts';

const columns = payeeShape.keyof().options;

/** Payees as CSV; several names of one stand in one cell. */
export function payeesCsv(payees: JsonOf<'payees'>['payees'], reports: Config['reports']): string {
  const rows = payees.map((one) =>
    columns.map((column) => {
      const value = one[column];
      if (Array.isArray(value)) return value.join(' / ');
      return column.endsWith('_at') ? zoned(String(value), reports.timezone) : String(value);
    }),
  );
  return csvText(reports)([[...columns], ...rows]);
}
