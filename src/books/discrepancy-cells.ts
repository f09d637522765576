import type { Discrepancy } from '../core/storage/tables/tables.ts';
import { zoned } from './presentation.ts';
import { asIs, sheetOf } from './sheet.ts';

/** A discrepancy with its age in whole days and what a person does about it; `zone` is that of the reports. */
type Aged = Discrepancy & { ageDays: number; zone: string; action: string };

/** discrepancies.csv. */
export const discrepancySheet = sheetOf<Aged>({
  discrepancy_id: ({ id }) => id,
  ...asIs('kind', 'severity', 'reference'),
  batch: ({ batch_id }) => batch_id ?? '',
  ...asIs('trx', 'transfer_id', 'currency', 'expected', 'actual', 'difference'),
  first_seen_at: ({ first_seen_at, zone }) => zoned(first_seen_at, zone),
  last_seen_at: ({ last_seen_at, zone }) => zoned(last_seen_at, zone),
  age_days: ({ ageDays }) => ageDays.toString(),
  ...asIs('state', 'evidence', 'action'),
  note: (line) => personally(line),
});

/** Marks a discrepancy that a person closed: no other evidence supports it. */
function personally({ resolved_by, note }: Discrepancy): string {
  return resolved_by === 'person' ? `${note} (closed by a person)` : note;
}
