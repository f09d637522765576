import { setImmediate } from 'node:timers/promises';
import { generatedReference } from '../core/domain/ids.ts';
import { isLoading } from '../core/ledger/batches.ts';
import type { Config } from '../core/settings/settings.ts';
import { inParts } from '../core/storage/keyset.ts';
import type { Db, Ledger } from '../core/storage/ledger.ts';
import { approvalHold, payeesAsked } from '../sending/payee-facts.ts';
import { markRows } from '../sending/row-approvals.sql.ts';
import { type ComparedPayees, type ComparedRows, comparePayees } from './compare-payees.ts';
import { payeeOf } from './payees-before.ts';
import type { GoodRow } from './rows.ts';
import type { Scan } from './scan.ts';
import { type KeptRows, readFileAgain } from './second-pass.ts';
import { paidIn, sampleOf } from './series.sql.ts';

type Rows = Pick<ComparedRows, 'batch' | 'each' | 'some'>;

/** How the good rows of a scan differ from the last batch of their series (P37); null where nothing is compared. */
export function payeesOf(
  { ledger, config }: { ledger: Ledger; config: Config },
  scan: Scan,
  rows: Rows,
): Promise<ComparedPayees | null> {
  const rule = config.submission.payees;
  if (rule === 'off') return Promise.resolve(null);
  const again = new Map(scan.retries.map(({ row, replaces }) => [row, replaces.id]));
  const columns = scan.header?.columns ?? [];
  const now = { columns, ...scan.good, again, ...rows };
  return comparePayees(ledger.db, now, {
    newcomers: rule === 'approve_new',
    zone: config.reports.timezone,
  });
}

/** The rows of a batch in the ledger. */
export function batchRows(db: Db, batch: string): Rows {
  return {
    batch,
    async each(take) {
      for await (const page of paidIn(db, batch)) await take(page.map(payeeOf));
    },
    some: async (size) => (await sampleOf(db, batch, size)).map(payeeOf),
  };
}

/** The rows of a file that is only checked. */
export function fileRowsOf(path: string, read: { config: Config; scan: Scan; kept: KeptRows }): Rows {
  const { config, scan } = read;
  const named = ({ row, parsed }: GoodRow) => {
    const made = () => generatedReference(config.intake.referencePrefix, scan.contentHash, row);
    return { ...parsed, row, reference: parsed.reference ?? made() };
  };
  return {
    batch: null,
    each: (take) => readFileAgain(path, read, (good) => take(good.map(named))),
    async some(size) {
      const rows = read.kept.chunks()?.flat() ?? read.kept.first();
      const step = Math.max(1, Math.floor(rows.length / size));
      return rows.filter((_, i) => i % step === 0).map(named);
    },
  };
}

/** So many rows are marked in one transaction, so that no other process waits long for a commit. */
const marksPerWrite = 2000;

/**
 * Marks the rows that wait for an approval of their own while the others of the batch go (P37). Returns how many: nothing of
 * a loading batch is sent, and the transaction that decides it counts them.
 */
export async function markAsking(
  { ledger, config: { submission } }: { ledger: Ledger; config: Config },
  batch: string,
  payees: ComparedPayees | null,
): Promise<number> {
  const why = payees && payeesAsked(submission.payees, payees.comparison);
  if (!why || approvalHold(why, '', submission.onChanged).scope !== 'rows') return 0;
  for (const some of inParts(payees.asking, marksPerWrite)) {
    await ledger.write(async (trx) => {
      if (await isLoading(trx, batch)) await markRows(trx, batch, some);
    });
    await setImmediate();
  }
  return payees.asking.length;
}
