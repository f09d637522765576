import type { Generated } from 'kysely';

/** Whom a payout pays (P37). */
export type PayeeColumns = {
  /** The employer's own key of whom it pays; empty: none. */
  payee_id: Generated<string>;
  /** By what the payee is found again: see `payeeNameLetters` and `payeeIdKey`. */
  name_letters: Generated<string>;
  payee_key: Generated<string>;
  /** 1: it is sent only with an approval, whatever the rest of its batch needs. */
  approval_needed: Generated<bigint>;
};
