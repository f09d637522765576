/** One transfer as a list shows it: every id and number as text, read losslessly (P13); empty what it does not show. */
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

/** `print`: what tells its content from every other; without it the transfer is like no other run's. */
export type StagedTransfer = ListedTransfer & { print?: number };

/**
 * Everything a row shows, as one text: what differs is written again. Whoever makes the ledger keep other or more of a
 * row than before must change this text too: rows are copied from run to run while it stays the same.
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
