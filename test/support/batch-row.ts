import type { Insertable } from 'kysely';
import type { Tables } from '../../src/core/storage/tables/tables.ts';

type Row = Insertable<Tables['batches']>;

/** A loaded batch whose file nobody looks at, without columns or reasons to be held, as far as `given` says nothing else. */
export function batchRow(id: string, createdAt: string, given: Partial<Row> = {}): Row {
  return {
    id,
    name: id,
    file_name: `${id}.csv`,
    content_hash: id,
    phase: 'loaded',
    columns: '[]',
    delimiter: ',',
    row_count: 0n,
    hold_reasons: '[]',
    body_digest: '',
    created_at: createdAt,
    dropped_by: 'ada',
    file_state: 'begun',
    ...given,
  };
}
