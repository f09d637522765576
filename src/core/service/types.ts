import type { ListedTransfer } from '../domain/listed-transfer.ts';
import type { AttemptOutcome } from '../domain/outcome.ts';

/** What is read of a listed transfer without an id. */
export type NamelessTransfer = { id: null; domain: string | null };

/**
 * One page of a transfer list. `date` is the reply's Date header in ms since the epoch, null when absent. `digest`
 * identifies the reply's text.
 */
export type ListPage = {
  page: number;
  lastPage: number;
  perPage: number;
  total: number;
  date: number | null;
  items: ListedTransfer[];
  /** The rows without an id, which identify no transfer; absent if there are none. */
  nameless?: NamelessTransfer[];
  digest?: string;
  /** The page was known by its digest: its rows are not repeated. */
  recalled?: true;
};

/** Returns the page that a reply with this digest held, if it is known, so that the same text is not read twice. */
export type RecallPage = (digest: string) => ListPage | undefined;

/** Why a question got no usable answer. `throttled` and `server_error` carry the Retry-After in ms when given. */
export type ServiceTrouble = {
  kind: 'trouble';
  reason: 'unreachable' | 'timeout' | 'unauthorised' | 'throttled' | 'server_error' | 'not_understood';
  message: string;
  httpStatus: number | null;
  retryAfterMs: number | null;
};

/** The raw reply to a look-up: the parsed JSON (numbers as text) and its source text. */
export type LookUpReply = {
  kind: 'reply';
  httpStatus: number;
  json: unknown;
  raw: string;
  date: number | null;
};

/** What the wallet holds, in minor units by currency. `unnamed`: a decimal whose currency the service does not name. */
export type Balances = { kind: 'balances'; minor: ReadonlyMap<string, bigint>; unnamed: string | null };

/** Whose account it is; `name` is null where the service knows none, and `message` is its text. */
export type AccountName = { kind: 'name'; name: string | null; message: string };

export type ServiceClient = {
  /** Sends one frozen body exactly once. Never retries, and never throws for a failure of the network or the service. */
  bankTransfer(
    body: string,
    reference: string,
    beforeWrite: () => boolean,
    batch?: string,
  ): Promise<AttemptOutcome>;
  /** `GET /fetch_all_transfers?page=n`, or the status-filtered list. */
  listPage(
    page: number,
    status?: 'success' | 'pending' | 'failed',
    recall?: RecallPage,
    run?: string,
  ): Promise<{ kind: 'page'; page: ListPage } | ServiceTrouble>;
  fetchTransferDetails(reference: string): Promise<LookUpReply | ServiceTrouble>;
  verifyTransaction(reference: string): Promise<LookUpReply | ServiceTrouble>;
  resendWebhook(kind: 'payout' | 'transaction', reference: string): Promise<LookUpReply | ServiceTrouble>;
  /** An extra: the wallet's balances, from this path below `/api/v1`. */
  walletBalance(path: string): Promise<Balances | ServiceTrouble>;
  /** An extra: the name of an account's holder, from this path. */
  accountName(
    path: string,
    account: { bankCode: string; accountNumber: string },
  ): Promise<AccountName | ServiceTrouble>;
  /**
   * The service's time now, in ms since the epoch, by the `Date` of its last reply with its envelope. Null where it sends
   * none, undefined before it answered.
   */
  serviceNow(): number | null | undefined;
  /** How many ms the service still asks to wait with the next order, by the `Retry-After` of its replies to orders (P8). */
  orderPauseMs(): number;
  close(): Promise<void>;
};
