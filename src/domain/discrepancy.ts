import Big from 'big.js';

/** The kinds of discrepancies of payouts and expected collections. */
export type DiscrepancyKind =
  | 'missing_at_service'
  | 'missing_in_ledger'
  | 'status_conflict'
  | 'amount_conflict'
  | 'currency_conflict'
  | 'beneficiary_conflict'
  | 'fee_conflict'
  | 'mode_conflict'
  | 'duplicate_at_service'
  | 'paid_twice'
  | 'stale_pending'
  | 'unknown_outcome'
  | 'webhook_missing'
  | 'webhook_conflict'
  | 'returned_after_success'
  | 'reference_collision'
  | 'collection_missing'
  | 'collection_conflict';

export type FoundFields = {
  payoutId: bigint | null;
  batchId: string | null;
  reference: string;
  trx: string | null;
  transferId: string | null;
  currency: string;
  expected: string;
  actual: string;
  /** Actual minus expected as decimal text where money can differ, otherwise empty. */
  difference: string;
  /** Whether money may have moved wrongly or twice. With kind, difference and age it decides the severity. */
  moved: boolean;
  /** When the listed transfer in question was created, ISO UTC; absent or empty if unknown. */
  shownAt?: string;
  evidence: string;
};

/** One discrepancy found by a run; kind and subject identify it across runs. */
export type Found = FoundFields & { kind: DiscrepancyKind; subject: string; action: string };

/** What a finance officer does about each kind; {@link unknownAction} dates the text of `unknown_outcome`. */
const actions: Record<DiscrepancyKind, string> = {
  missing_at_service:
    'Ask the service where this transfer is, giving its reference, and the transfer id and trx where they are shown. Do not pay it again until they answer; then close it with counterfoil settle.',
  missing_in_ledger:
    'Find out who ordered this transfer: somebody here, by hand at the service or with the keys, or it was paid from here after a backup that was restored later. If neither, report it to the service and change the keys.',
  status_conflict:
    'Ask the service in writing which status is true, and check the bank statement. Pay nothing again before that; then close it with counterfoil settle.',
  amount_conflict: 'Stop further payments to this beneficiary and ask the service why the amount differs.',
  currency_conflict:
    'Ask the service why the currency differs and what was really debited. Pay nothing again before that.',
  beneficiary_conflict:
    'Urgent: the money may be going to another account. Ask the service to stop or recall the transfer.',
  fee_conflict: 'Compare the fee with the contract and claim the difference with the next invoice.',
  mode_conflict:
    'Test and live were mixed. Check which keys are configured and ask the service in which mode it moved money.',
  duplicate_at_service:
    'One order became several transfers. Ask the service to cancel or recall all but one.',
  paid_twice: 'This was probably paid twice. Ask the service and the beneficiary to return one payment.',
  stale_pending:
    'Ask the service when this transfer will settle. Do not pay it another way while it is pending. If they say how it ended, close it with counterfoil settle.',
  unknown_outcome: 'We cannot tell whether this was paid. Do not pay it another way.',
  webhook_missing:
    'Nothing to pay. If many are missing, check the webhook URL with the service and that it reaches this receiver (counterfoil status counts what it rejected).',
  webhook_conflict:
    'A webhook contradicts what else is known. Trust the listing, and ask the service why they differ.',
  returned_after_success:
    'The money came back. Correct the beneficiary details, then pay again under a new reference.',
  reference_collision:
    'The service shows another transfer under our reference. We cannot tell whether ours was paid: ask the service before paying, then close it with counterfoil settle.',
  collection_missing:
    'Ask the payer whether they paid, and the service where the money is. Hand out nothing for it before it has arrived.',
  collection_conflict:
    'Compare what the payer owed with what the service collected, and ask the service which is right. Book only what has arrived.',
};

/** What an open discrepancy of a kind says about its payout, and what a person's close of the payout does to it (P32). */
type About = {
  /** Resolved with the payout, or only acknowledged where other money is in question. */
  ends: 'resolved' | 'acknowledged';
  /** It only reports that no news came: it is not found again while a person's decision closes the payout. */
  silence: boolean;
  /**
   * What it speaks against: the evidence that made the payout final, so that a person may close the payout anyway, and
   * our report of the payout.
   */
  against: readonly ('evidence' | 'report')[];
};

const about: Record<DiscrepancyKind, About> = {
  missing_at_service: { ends: 'resolved', silence: true, against: ['evidence', 'report'] },
  missing_in_ledger: { ends: 'acknowledged', silence: false, against: [] },
  status_conflict: { ends: 'resolved', silence: false, against: ['evidence', 'report'] },
  amount_conflict: { ends: 'acknowledged', silence: false, against: ['evidence', 'report'] },
  currency_conflict: { ends: 'acknowledged', silence: false, against: ['evidence', 'report'] },
  beneficiary_conflict: { ends: 'acknowledged', silence: false, against: ['evidence', 'report'] },
  fee_conflict: { ends: 'acknowledged', silence: false, against: [] },
  mode_conflict: { ends: 'acknowledged', silence: false, against: ['evidence', 'report'] },
  duplicate_at_service: { ends: 'acknowledged', silence: false, against: [] },
  paid_twice: { ends: 'acknowledged', silence: false, against: ['report'] },
  stale_pending: { ends: 'resolved', silence: true, against: [] },
  unknown_outcome: { ends: 'resolved', silence: true, against: [] },
  webhook_missing: { ends: 'resolved', silence: true, against: [] },
  webhook_conflict: { ends: 'resolved', silence: false, against: ['evidence'] },
  returned_after_success: { ends: 'acknowledged', silence: false, against: [] },
  reference_collision: { ends: 'resolved', silence: false, against: ['evidence', 'report'] },
  collection_missing: { ends: 'acknowledged', silence: false, against: [] },
  collection_conflict: { ends: 'acknowledged', silence: false, against: [] },
};

const kindsWhere = (test: (one: About) => boolean): DiscrepancyKind[] =>
  discrepancyKinds.filter((kind) => test(about[kind]));

/** Every kind that a run can find. */
export const discrepancyKinds = Object.keys(actions).filter(isDiscrepancyKind).toSorted();

/** The kinds that a close resolves, and those that it only acknowledges (P32). */
export const endedByClose = kindsWhere(({ ends }) => ends === 'resolved');
export const acknowledgedByClose = kindsWhere(({ ends }) => ends === 'acknowledged');
/** The kinds that are not found again while a person's decision closes their payout. */
export const silentKinds = kindsWhere(({ silence }) => silence);
/** The kinds that, while open, let a person close a payout that evidence had made final. */
export const contradictingKinds = kindsWhere(({ against }) => against.includes('evidence'));
/** The kinds that, while open, mean that our report of the payout may be wrong. */
export const doubtedKinds = kindsWhere(({ against }) => against.includes('report'));

/** True for the name of a kind. */
export function isDiscrepancyKind(name: string): name is DiscrepancyKind {
  return Object.hasOwn(actions, name);
}

/** Builds one finding with the action of its kind, or with the given one. */
export function finding(
  kind: DiscrepancyKind,
  subject: string,
  fields: FoundFields,
  action = actions[kind],
): Found {
  return { kind, subject, ...fields, action };
}

/** The action for a pending payout that went to another account than the one asked; `why` names both (P31). */
export function staleElsewhereAction(why: string): string {
  return `Nothing asked now can tell how it ended: ${why}. Until then ask the service, and do not pay it another way. If they say how it ended, close it with counterfoil settle.`;
}

/** The action for a transfer under our reference at another account than the one that ours went to (P31). */
export function otherAccountAction(reference: string): string {
  return `Another account shows a transfer under our reference. It says nothing about ours. Configure the address and key that ours was sent with and run counterfoil reconcile, or ask the service and close it with counterfoil settle ${reference}. Pay nothing again before that. Find out who ordered the other transfer.`;
}

/** The action for an unknown outcome: wait until the quiet period ends, then decide with the service's answer (P19). */
export function unknownAction(reference: string, watchedUntil: string, now: string): string {
  if (now < watchedUntil)
    return `We cannot tell whether this was paid. Do not pay it another way before ${watchedUntil}. Counterfoil looks it up until then; afterwards ask the service in writing.`;
  return `We cannot tell whether this was paid. It was watched until ${watchedUntil}. Ask the service in writing. Then order it once more with counterfoil retry ${reference}, or close it with counterfoil settle ${reference} --as paid --note "what they said" (or --as not-paid). Do not pay it another way while it is open.`;
}

/** `actual - expected`, exact, with the longer fraction of the two; empty where either is not a plain decimal. */
export function decimalDifference(actual: string, expected: string): string {
  const plain = /^-?\d{1,40}(\.\d{1,40})?$/;
  if (!plain.test(actual) || !plain.test(expected)) return '';
  const digits = Math.max(fractionOf(actual), fractionOf(expected));
  return new Big(actual)
    .minus(expected)
    .toFixed(digits)
    .replace(/^-(?=[0.]+$)/, '');
}

function fractionOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}
