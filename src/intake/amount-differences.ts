import type { Db } from '../core/storage/ledger.ts';
import { payeeOf, readBefore } from './payees-before.ts';
import { batchesHere, paidIn, paidRows } from './series.sql.ts';

/** A payout whose amount differs from what its payee got in the batch before, in minor units. */
export type AmountDifference = {
  reference: string;
  name: string;
  currency: string;
  before: bigint;
  now: bigint;
};

/**
 * Finds the payouts of a batch whose amount differs from that of the batch `earlier`, by the pairs of the comparison at
 * intake (P37); by currency, the largest difference first. Null where an archive has the payouts of one of them.
 */
export async function amountDifferences(
  db: Db,
  batch: string,
  earlier: string,
): Promise<AmountDifference[] | null> {
  const both = await batchesHere(db, [batch, earlier]);
  const last = both.find(({ id }) => id === earlier);
  if (!last || both.length < 2) return null;
  const before = await readBefore(db, last);
  const found: AmountDifference[] = [];
  for await (const page of paidIn(db, batch)) {
    const pairs = page.flatMap((paid) => {
      const row = payeeOf(paid);
      const same = before.same(row);
      const place = same ?? before.find(row);
      const was = place === null ? null : before.nextAmount(place);
      return place === null || was === null || was === row.amount ? [] : [{ row, place, same, was }];
    });
    // The payee of another account may have been paid in another currency.
    const others = pairs.flatMap(({ place, same }) => (same === null ? [place] : []));
    const paid = await paidRows(db, last.id, others);
    const currencies = new Map(paid.map(({ row_number, currency }) => [Number(row_number), currency]));
    for (const { row, place, same, was } of pairs) {
      const { reference, accountName: name, currency, amount: now } = row;
      if (same !== null || currencies.get(place) === currency)
        found.push({ reference, name, currency, before: was, now });
    }
  }
  return found.toSorted(inOrder);
}

function inOrder(a: AmountDifference, b: AmountDifference): number {
  if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1;
  return Number(far(b) - far(a)) || (a.reference < b.reference ? -1 : 1);
}

const far = ({ before, now }: AmountDifference): bigint => (now > before ? now - before : before - now);
