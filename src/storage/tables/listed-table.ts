import type { Generated } from 'kysely';

/** A transfer as a run saw it on the service's list. */
export type ListedTable = {
  run_id: string;
  transfer_id: string;
  trx: string | null;
  reference: string;
  reference_key: string;
  currency: string;
  /** Minor units where the text is a plain decimal of the currency, else null. */
  amount: bigint | null;
  amount_text: string;
  fee: string | null;
  account_name: string;
  account_number: string;
  bank_code: string;
  domain: string | null;
  status: string;
  /** ISO UTC with milliseconds; empty where the service's text is not an instant. */
  created_at: string;
  updated_at: string;
  /** The last pass over the listing that brought the row or a change of it (P28). */
  pass: bigint;
  /** The payout it was paired with; null: not ours, or not yet paired. */
  payout_id: bigint | null;
  /** Its `reference_key` where no payout had that reference when it was staged, so that the index holds only those. */
  stray_key: Generated<string | null>;
  /** A fingerprint of the content. A later run that lists the same copies the row; null: it is always written in full. */
  print: Generated<bigint | null>;
};
