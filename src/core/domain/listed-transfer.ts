/** One listed transfer: every id and number as text, read losslessly (P13); empty where the list shows nothing. */
export type ListedTransfer = {
  id: string;
  trx: string | null;
  reference: string;
  currency: string;
  amount: string;
  fee: string | null;
  account_name: string;
  account_number: string;
  bank_code: string;
  /** null in the status-filtered list, which does not show it. */
  domain: string | null;
  status: string;
  created_at: string;
  updated_at: string;
};

/** `print`: a fingerprint of the content; without it the transfer matches no other run's. */
export type StagedTransfer = ListedTransfer & { print?: number };

/**
 * All stored fields of a row as one text: a changed text makes the row be written again. If the ledger stores other
 * fields of a row, this text must change too: rows with an equal text are copied from run to run.
 */
export function shownFields(item: ListedTransfer): string {
  return JSON.stringify([
    item.trx,
    item.reference,
    item.currency,
    item.amount,
    item.fee,
    item.account_name,
    item.account_number,
    item.bank_code,
    item.domain,
    item.status,
    item.created_at,
    item.updated_at,
  ]);
}
