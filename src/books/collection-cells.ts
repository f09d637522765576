import { isAskable } from '../core/domain/others-reference.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type CollectionLine, collectionsInOrder } from '../watching/collections/collection-lines.sql.ts';
import { money, zoned } from './presentation.ts';
import { sheetOf } from './sheet.ts';

type Line = CollectionLine & { zone: string };

/** collections.csv: what was expected and what arrived, with the source of each fact. */
const sheet = sheetOf<Line>({
  reference: ({ row }) => row.reference,
  state: ({ row }) => row.state,
  currency: ({ row }) => row.expected_currency ?? row.verified_currency ?? row.told_currency ?? '',
  expected: ({ row: { expected_amount: amount, expected_currency: currency } }) =>
    amount === null || currency === null ? '' : money(amount, currency),
  received: ({ received }) => received,
  difference: ({ difference }) => difference,
  trx: ({ row }) => row.trx ?? '',
  fee: ({ row }) => row.verified_fee ?? row.told_fee ?? '',
  paid_at: ({ row, zone }) => zoned(row.verified_paid_at ?? row.told_paid_at, zone),
  expected_at: ({ row, zone }) => zoned(row.expected_at, zone),
  heard_at: ({ row, zone }) => zoned(row.heard_at, zone),
  deliveries: ({ deliveries }) => deliveries.toString(),
  received_at: ({ row, zone }) => zoned(row.received_at, zone),
  evidence: ({ row }) => evidenceOf(row),
  file: ({ row }) => row.file_id ?? '',
});

/** Yields one row per collection. The first page is the header. */
export async function* collectionPages(db: Db, zone: string): AsyncGenerator<string[][]> {
  yield [sheet.header];
  for await (const page of collectionsInOrder(db)) yield page.map((line) => sheet.cells({ ...line, zone }));
}

function evidenceOf({ heard_at, verified_status, reference }: CollectionLine['row']): string {
  const evidence = [
    heard_at !== null && 'webhook',
    verified_status !== null && 'verify',
    !isAskable(reference) && 'cannot be asked about',
  ];
  return evidence.filter((source) => source !== false).join('+');
}
