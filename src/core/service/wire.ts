/**
 * The shapes that cross the wire, as the interface document writes them. Types only, no code. A reply need not have its
 * shape: every reader must parse it first.
 */

/** The mode of a transfer, and of the credentials that made it ("Authentication", rule 3). */
export type WireDomain = 'test' | 'live';

/** An item of "List all transfers". Amount and fee are decimals as text; times are UTC with microseconds and `Z`. */
export type TransferRecord = {
  id: number;
  trx: string;
  reference: string;
  transactionRef: string | null;
  sessionid: string | null;
  currency: string;
  amount: string;
  fee: string;
  account_name: string;
  account_number: string;
  bank_name: string;
  bank_code: string;
  narration: string;
  domain: string;
  status: string;
  created_at: string;
  updated_at: string;
};

/** An item of "List transfers by status": the same fields but three ("Resources and their fields"). */
export type FilteredTransferRecord = Omit<TransferRecord, 'transactionRef' | 'sessionid' | 'domain'>;

/** One pagination link; `url` is null where there is nowhere to go. */
export type PageLink = { url: string | null; label: string; active: boolean };

/** The page object of "List transfers by status"; `from` and `to` are null on an empty page. */
export type FilteredListPage<Item = FilteredTransferRecord> = {
  current_page: number;
  data: readonly Item[];
  first_page_url: string;
  from: number | null;
  last_page: number;
  per_page: number;
  to: number | null;
  total: number;
};

/** The page object of "List all transfers". */
export type WireListPage<Item = TransferRecord> = FilteredListPage<Item> & {
  last_page_url: string;
  links: readonly PageLink[];
  next_page_url: string | null;
  path: string;
  prev_page_url: string | null;
};

/** The envelope of both list endpoints; `status` is `00` on success. */
export type ListEnvelope<Page = WireListPage> = { success: boolean; status: string; data: Page };

/** The body of "Initiate a bank transfer"; `type` means `RTC` when omitted. */
export type { TransferOrder as BankTransferRequest } from '../domain/body.ts';

/** The body of a payout webhook ("Payout event"). */
export type WirePayoutEvent = {
  status: string;
  event: 'payout';
  currency: string;
  amount: string;
  fee: string;
  account_name: string;
  account_number: string;
  bank_code: string;
  bank_name: string;
  narration: string;
  trx: string;
  reference: string;
  sessionid: string;
  domain: string;
  statusMessage: string;
  note: string | null;
  timestamp: string;
};

/** The money part of a collection webhook; `paid_at` is `YYYY-MM-DD HH:MM:SS` without a zone. */
export type CollectionData = {
  id: number;
  business_id: number;
  currency: string;
  amount: string;
  trx: string;
  reference: string;
  channel: string;
  type: string;
  domain: string;
  fee: string;
  requested_amount: string;
  status: string;
  gateway: string;
  paid_at: string;
  customerinfo: { customer_code: string; email: string; status: string };
};

/** The body of a collection webhook ("Collection event"). */
export type CollectionEvent = {
  event: 'transaction';
  data: CollectionData;
  payment_account: null;
  sender_details: {
    sender_account_name: string;
    sender_account_number: string;
    sender_bank_code: string;
    sessionId: string;
  };
};
