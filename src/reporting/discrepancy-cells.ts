import type { Discrepancy } from '../storage/tables/tables.ts';
import { actionFor } from './discrepancy-words.ts';
import { zoned } from './presentation.ts';

/** The columns of discrepancies.csv. */
export const discrepancyColumns = [
  'discrepancy_id',
  'kind',
  'severity',
  'reference',
  'batch',
  'trx',
  'transfer_id',
  'currency',
  'expected',
  'actual',
  'difference',
  'first_seen_at',
  'last_seen_at',
  'age_days',
  'state',
  'evidence',
  'action',
  'note',
];

/** One discrepancy in those columns; `zone` is that of the reports. */
export function discrepancyCells(line: Discrepancy, ageDays: number, zone: string): string[] {
  return [
    line.id,
    line.kind,
    line.severity,
    line.reference,
    line.batch_id ?? '',
    line.trx ?? '',
    line.transfer_id ?? '',
    line.currency,
    line.expected,
    line.actual,
    line.difference,
    zoned(line.first_seen_at, zone),
    zoned(line.last_seen_at, zone),
    ageDays.toString(),
    line.state,
    line.evidence,
    actionFor(line),
    personally(line),
  ];
}

/** Marks what a person closed: nothing but that word stands behind it. */
function personally({ resolved_by, note }: Discrepancy): string {
  return resolved_by === 'person' ? `${note} (a person's word)` : note;
}
