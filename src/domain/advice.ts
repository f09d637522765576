import type { Mode } from './payout.ts';

/** What a person can do next, as a fact. `reporting/advice-text.ts` says it, with the command to type. */
export type Advice =
  | { kind: 'init' }
  /** A home for one mode, beside the one of the other mode (P24). */
  | { kind: 'init_for_mode'; mode: Mode }
  | { kind: 'first_submit' }
  | { kind: 'upgrade' }
  /** Look for what is wrong with the machine, the queue or the database. */
  | { kind: 'doctor' }
  /** This account may not write a folder; what is recorded goes on without its file. */
  | { kind: 'free_folders'; mode: Mode }
  /** A file was taken in before: what of it waits, ready or held, needs no file. */
  | { kind: 'rest_of_file'; mode: Mode; ready: boolean; held: boolean }
  | { kind: 'finish_restore' }
  /** The ledger went back in time (P25). */
  | { kind: 'adopt' }
  | { kind: 'adopt_again' }
  /** A whole listing lets an adopted ledger send (P25). */
  | { kind: 'list_whole' }
  /** The ledger was moved for ever (P26); `mark` is the file that says so. */
  | { kind: 'follow_move'; mark: string }
  /** `url` names where a move was to lead that may have been interrupted. */
  | { kind: 'finish_move'; url: string }
  /** The file at `path` is the sealed copy of an unfinished move. */
  | { kind: 'replace_sealed'; path: string }
  /** What to do with a row that pays a payout again which it cannot (P20). */
  | { kind: 'row_paid_again'; successor: string }
  | { kind: 'row_unknown'; reference: string }
  | { kind: 'row_not_payable' }
  | { kind: 'row_unconfirmed'; batch: string; removable: boolean }
  | { kind: 'row_settled'; reference: string }
  | { kind: 'row_unanswered'; reference: string }
  | { kind: 'row_outdated'; batch: string };

/** Says an advice in words, for rooms that write a file for people. */
export type SayAdvice = (advice: Advice) => string;

/** Stops until a person has done something. The message says what is wrong, without the way out. */
export class ActionNeeded extends Error {
  readonly advice: Advice | null;
  constructor(message: string, advice: Advice | null, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}
