import type { ListedTransfer } from '../domain/listed-transfer.ts';
import type { Outcome } from '../domain/outcome.ts';

/** What is read of a listed transfer that shows no id. */
export type NamelessTransfer = { id: null; domain: string | null };

/**
 * One page of a transfer list. `date` is the reply's Date header in ms since the epoch, null when absent; `digest` tells
 * its text from every other.
 */
export type ListPage = {
  page: number;
  lastPage: number;
  perPage: number;
  total: number;
  date: number | null;
  items: ListedTransfer[];
  /** The rows that show no id, so that no transfer can be told from them; absent for none. */
  nameless?: NamelessTransfer[];
  digest?: string;
  /** The page was known by its digest: its rows are not shown again. */
  recalled?: true;
};

/** The page that a reply with this digest held, if it is known: the same text is not read twice. */
export type RecallPage = (digest: string) => ListPage | undefined;

/** Why a question got no usable answer. `throttled` carries the Retry-After in ms when given. */
export type ServiceTrouble = {
  kind: 'trouble';
  reason: 'unreachable' | 'timeout' | 'unauthorised' | 'throttled' | 'server_error' | 'not_understood';
  message: string;
  httpStatus: number | null;
  retryAfterMs: number | null;
};

/** A raw reply to a look-up: the parsed JSON (big numbers as text) with what it was read from. */
export type LookUpReply = {
  kind: 'reply';
  httpStatus: number;
  json: unknown;
  raw: string;
  date: number | null;
};

export type ServiceClient = {
  /** Sends one frozen body exactly once; never retries, never throws for anything the network or service does. */
  bankTransfer(body: string, reference: string, beforeWrite: () => boolean): Promise<Outcome>;
  /** `GET /fetch_all_transfers?page=n`, or the status-filtered list. */
  listPage(
    page: number,
    status?: 'success' | 'pending' | 'failed',
    recall?: RecallPage,
  ): Promise<{ kind: 'page'; page: ListPage } | ServiceTrouble>;
  fetchTransferDetails(reference: string): Promise<LookUpReply | ServiceTrouble>;
  verifyTransaction(reference: string): Promise<LookUpReply | ServiceTrouble>;
  resendWebhook(kind: 'payout' | 'transaction', reference: string): Promise<LookUpReply | ServiceTrouble>;
  close(): Promise<void>;
};
