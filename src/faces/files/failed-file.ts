import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { storedCells } from '../../books/sheet.ts';
import { failedLayout, mostRetries, type RetryClaim } from '../../core/domain/retry-file.ts';
import { unpaidOf } from '../../core/ledger/successors.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import type { Batch } from '../../core/storage/tables/tables.ts';
import { writeCsv } from './csv-writer.ts';

/** Returns which of these payouts may be paid again: under which reference, and on which evidence (P20). */
export type RetryOffers = {
  offer(
    db: Db,
    ids: readonly bigint[],
  ): Promise<readonly { id: bigint; reference: string; claim: RetryClaim }[]>;
};

/** `skipped` says in words what is not in the file and why. */
type FailedFile = { files: string[]; skipped: string[] };

/**
 * Writes a batch's failed.csv: the rows that failed, ready to correct and to put into the inbox. Each names what it pays
 * again. A row stays however old the service's answer is: intake asks the service before it pays (P31). The file is
 * removed when no row remains. An older copy that is put there later is refused row by row.
 */
export function createFailedFile(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  retries: RetryOffers;
}) {
  const { ledger, config, reports, retries } = deps;
  const style = { bom: config.reports.bom, delimiter: config.reports.delimiter, exact: true };

  /** The rows that one file may pay again, how many more there are, and how many may not be paid again now. */
  async function collect(batch: Batch): Promise<{ rows: string[][]; more: number; barred: number }> {
    const { header, cellsOf } = failedLayout(storedCells(batch.columns));
    const found = { rows: [header], more: 0, barred: 0 };
    for await (const page of unpaidOf(ledger.db, batch.id)) {
      if (found.rows.length > mostRetries) {
        found.more += page.length;
        continue;
      }
      const ids = page.map(({ id }) => id);
      const offers = new Map((await retries.offer(ledger.db, ids)).map((one) => [one.id, one]));
      for (const payout of page) {
        const offer = offers.get(payout.id);
        if (!offer) found.barred += 1;
        else if (found.rows.length > mostRetries) found.more += 1;
        else found.rows.push(cellsOf({ ...payout, ...offer, cells: storedCells(payout.cells) }));
      }
    }
    return found;
  }

  return async function writeFailed(batch: Batch): Promise<FailedFile> {
    const path = join(reports, batch.id, 'failed.csv');
    const { rows, more, barred } = await collect(batch);
    const count = rows.length - 1;
    const masked = config.reports.maskAccounts && count > 0;
    const skipped = [
      ...(masked
        ? [`${path}: its account numbers would be whole, and reports.mask_accounts hides them`]
        : []),
      ...(more > 0
        ? [`${path}: it holds the first ${count}; ${more} more follow once those were taken`]
        : []),
      ...(barred > 0
        ? [
            `${path}: it lacks ${barred} that cannot be paid again now; counterfoil retry --batch ${batch.id} says why`,
          ]
        : []),
    ];
    if (count === 0 || masked) {
      await rm(path, { force: true });
      return { files: [], skipped };
    }
    await writeCsv(path, [rows], style);
    return { files: [path], skipped };
  };
}
