import type { Discrepancy } from '../storage/tables/tables.ts';
import { actionFor } from './discrepancy-words.ts';
import { zoned } from './presentation.ts';
import { sheetOf } from './sheet.ts';

/** A discrepancy with its age in whole days; `zone` is that of the reports. */
type Aged = { line: Discrepancy; ageDays: number; zone: string };

/** discrepancies.csv. */
export const discrepancySheet = sheetOf<Aged>({
  discrepancy_id: ({ line }) => line.id,
  kind: ({ line }) => line.kind,
  severity: ({ line }) => line.severity,
  reference: ({ line }) => line.reference,
  batch: ({ line }) => line.batch_id ?? '',
  trx: ({ line }) => line.trx ?? '',
  transfer_id: ({ line }) => line.transfer_id ?? '',
  currency: ({ line }) => line.currency,
  expected: ({ line }) => line.expected,
  actual: ({ line }) => line.actual,
  difference: ({ line }) => line.difference,
  first_seen_at: ({ line, zone }) => zoned(line.first_seen_at, zone),
  last_seen_at: ({ line, zone }) => zoned(line.last_seen_at, zone),
  age_days: ({ ageDays }) => ageDays.toString(),
  state: ({ line }) => line.state,
  evidence: ({ line }) => line.evidence,
  action: ({ line }) => actionFor(line),
  note: ({ line }) => personally(line),
});

/** Marks a discrepancy that a person closed: no other evidence supports it. */
function personally({ resolved_by, note }: Discrepancy): string {
  return resolved_by === 'person' ? `${note} (closed by a person)` : note;
}
