import type { Generated } from 'kysely';
import type { ListedRow } from '../../domain/pair-conflicts.ts';

/** A transfer as a run saw it on the service's list. `created_at`: empty where the service's text is not an instant. */
export type ListedTable = ListedRow & {
  run_id: string;
  reference_key: string;
  account_name: string;
  /** The last pass over the listing that brought the row or a change of it (P28). */
  pass: bigint;
  /** The payout it was paired with; null: not ours, or not yet paired. */
  payout_id: bigint | null;
  /** Its `reference_key` where no payout had that reference when it was staged, so that the index holds only those. */
  stray_key: Generated<string | null>;
  /** A fingerprint of the content. A later run that lists the same copies the row; null: it is always written in full. */
  print: Generated<bigint | null>;
};
