import { type CollectionLine, collectionLines } from '../collections/collection-lines.sql.ts';
import { isAskable } from '../domain/others-reference.ts';
import type { Db } from '../storage/ledger.ts';
import { money, zoned } from './presentation.ts';

const collectionColumns = [
  'reference',
  'state',
  'currency',
  'expected',
  'received',
  'difference',
  'trx',
  'fee',
  'paid_at',
  'expected_at',
  'heard_at',
  'deliveries',
  'received_at',
  'evidence',
  'file',
];

/** One row a collection: what was expected and what arrived, with who says so. The first page is the header. */
export async function* collectionPages(db: Db, zone: string): AsyncGenerator<string[][]> {
  yield [collectionColumns];
  for await (const page of collectionLines(db)) yield page.map((line) => cellsOf(line, zone));
}

function cellsOf({ row, deliveries, received, difference }: CollectionLine, zone: string): string[] {
  const { expected_amount: amount, expected_currency: currency } = row;
  const evidence = [
    row.heard_at !== null && 'webhook',
    row.verified_status !== null && 'verify',
    !isAskable(row.reference) && 'cannot be asked about',
  ].filter((source) => source !== false);
  return [
    row.reference,
    row.state,
    currency ?? row.verified_currency ?? row.told_currency ?? '',
    amount === null || currency === null ? '' : money(amount, currency),
    received,
    difference,
    row.trx ?? '',
    row.verified_fee ?? row.told_fee ?? '',
    zoned(row.verified_paid_at ?? row.told_paid_at, zone),
    zoned(row.expected_at, zone),
    zoned(row.heard_at, zone),
    deliveries.toString(),
    zoned(row.received_at, zone),
    evidence.join('+'),
    row.file_id ?? '',
  ];
}
