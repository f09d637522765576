import { zoned } from '../../books/presentation.ts';
import type { ListedPayout } from '../../core/ledger/payout-list.ts';
import type { Config } from '../../core/settings/settings.ts';
import { listedPayoutShape } from '../../core/shapes/list-shapes.ts';
import { csvText } from '../files/csv-writer.ts';
import { listedPayoutJson } from './list-json.ts';

const csvColumns = listedPayoutShape.keyof().options;

/** A list of payouts as CSV, a page at a time, as the files of the reports are written. */
export async function* payoutsCsv(
  pages: AsyncIterable<readonly ListedPayout[]>,
  reports: Config['reports'],
  account: (text: string) => string,
): AsyncGenerator<string> {
  const text = csvText(reports);
  yield text([csvColumns]);
  for await (const page of pages) {
    const rows = page.map((one) => {
      const cells = listedPayoutJson(one, account);
      return csvColumns.map((column) =>
        column.endsWith('_at')
          ? zoned(cells[column]?.toString() ?? null, reports.timezone)
          : `${cells[column] ?? ''}`,
      );
    });
    yield text(rows);
  }
}
