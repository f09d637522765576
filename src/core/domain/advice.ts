import type { Mode } from './payout.ts';

/** What a person can do next, as a fact. `words/advice-text.ts` says it, with the command to type. */
export type Advice =
  | { kind: 'init' }
  /** A home for one mode, beside the one of the other mode (P24). */
  | { kind: 'init_for_mode'; mode: Mode }
  | { kind: 'first_submit' }
  | { kind: 'upgrade' }
  /** Look for what is wrong with the machine, the queue or the database. */
  | { kind: 'doctor' }
  /** The keys are those of a running `serve`, such as credentials of its systemd unit; this shell lacks them. */
  | { kind: 'run_as_unit' }
  /** This account may not use a file of the ledger, or its folder. */
  | { kind: 'give_file'; place: string }
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
  /** The list of the account that paid lets it send; a person may give that account up (P25, P32). */
  | { kind: 'list_payer'; evidence: string }
  /** No list that was read since is proven complete; a person may give that up (P28, P32). `evidence`: a digest of what is not proven. */
  | { kind: 'list_unproven'; evidence: string }
  /** The same of one payout that a lost copy may have paid; `unknown`: it can be settled. */
  | { kind: 'list_or_settle'; reference: string; unknown: boolean }
  /** The ledger was moved for ever (P26); `mark` is the file that says so. */
  | { kind: 'follow_move'; mark: string }
  /** `url` names where a move was to lead that may have been interrupted. */
  | { kind: 'finish_move'; url: string }
  /** The file at `path` is the sealed copy of an unfinished move. */
  | { kind: 'replace_sealed'; path: string }
  | { kind: 'reconcile' }
  | { kind: 'see_discrepancies' }
  /** A conflict between two final witnesses (P14). */
  | { kind: 'resolve'; discrepancy: string }
  | { kind: 'see_payout'; reference: string }
  | { kind: 'release'; batch: string }
  /** It may not be sent before the service has answered about it (P31), and no clear answer came. */
  | { kind: 'unanswered'; reference: string }
  /** The service must say what became of it. */
  | { kind: 'ask_again'; reference: string }
  /** What confirms that a payout failed (P17): so many failed transfers in a list; `byList`: a look-up is not enough. */
  | { kind: 'confirm_failure'; reference: string; taken: number; byList: boolean }
  /** A lost copy of the ledger may have paid it (P25); `unknown`: the reference of a payout that can be settled. */
  | { kind: 'find_copy'; unknown: string | null }
  /** A payout that was never sent, while the service shows a transfer under its reference (P15). */
  | { kind: 'find_orderer'; reference: string }
  | { kind: 'ask_then_release'; reference: string }
  /** The same of one that was sent before (P19, P20); `relist`: only the list shows it. */
  | { kind: 'decide_again'; reference: string; relist: boolean }
  /** A successor whose predecessor came to life (P20), may have, or is in doubt because of what `by` names. */
  | { kind: 'drop'; reference: string }
  | { kind: 'find_predecessor'; reference: string; batch: string }
  | { kind: 'clear_predecessor'; reference: string; of: string; by: 'list' | 'listed' | 'answer' }
  /** It is above a whole day's limit (P21). */
  | { kind: 'raise_limit'; reference: string };

/** Says an advice in words, for rooms that write a file for people. */
export type SayAdvice = (advice: Advice) => string;

/** Why something is refused or held, as a fact, and what a person can do about it. */
export type AdvisedReason = { why: string; advice: Advice | null };

export function reasonIn({ why, advice }: AdvisedReason, say: SayAdvice): string {
  if (advice === null) return why;
  const isOfPlace = advice.kind === 'follow_move' || advice.kind === 'replace_sealed';
  return `${why}${isOfPlace ? ':' : ';'} ${say(advice)}`;
}

/** Stops until a person has done something. The message says what is wrong, without the way out. */
export class ActionNeeded extends Error {
  readonly advice: Advice | null;
  constructor(message: string, advice: Advice | null, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}
