import { toMinor } from '../../src/sandbox/amounts.ts';
import type { BookedTransfer } from '../../src/sandbox/transfer.ts';

/** A number of transfers and their sum in hundredths of the currency. */
type Total = { count: number; minor: bigint };

/** Totals by currency, then by status: pending, success, failed, or `returned` where the money came back. */
type Totals = Record<string, Record<string, Total>>;

/** Adds up the given transfers; a currency or status without any is absent. */
export function totalsOf(transfers: Iterable<BookedTransfer>): Totals {
  const totals: Totals = {};
  for (const transfer of transfers) {
    const ofCurrency = totals[transfer.currency] ?? {};
    totals[transfer.currency] = ofCurrency;
    const status = transfer.returned ? 'returned' : transfer.status;
    const { count, minor } = ofCurrency[status] ?? { count: 0, minor: 0n };
    ofCurrency[status] = { count: count + 1, minor: minor + toMinor(transfer.amount) };
  }
  return totals;
}
