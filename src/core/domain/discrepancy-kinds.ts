/** The gravest first. */
export const severities = ['high', 'medium', 'low'] as const;
export type Severity = (typeof severities)[number];

/** What shows a discrepancy, and so what a run must have seen before it may close one that it no longer finds. */
export type ShownBy =
  /** The ledger alone: every run sees all of them. */
  | 'ledger'
  /** The ledger's collections: every run sees all of them. */
  | 'collections'
  /** A webhook that did not come; while no webhooks are received, none is expected. */
  | 'no_webhook'
  /** The lack of a payout in a complete listing. */
  | 'no_transfer'
  /** One listed transfer of a payout. */
  | 'transfer'
  /** One listed transfer that no payout explains. */
  | 'foreign_transfer'
  /** The number of a payout's transfers. */
  | 'transfer_count';

/**
 * How grave a kind is: `moved` where money may have moved wrongly or twice by it, else `still`. From `afterDays` on it is
 * one step graver, at most `most`. `urgent`: it comes first, and stays grave below one unit of its currency.
 */
export type Rating = {
  moved: Severity;
  still: Severity;
  most: Severity;
  afterDays: number | null;
  urgent: boolean;
};

/** Everything that the code knows of a kind; what a person does about it stands in `words/discrepancy-words.ts`. */
type KindRules = {
  shownBy: ShownBy;
  rating: Rating;
  /**
   * Where a person closes its payout: it ends too, or, where other money is in question, is only acknowledged (P32).
   */
  onClose: 'resolved' | 'acknowledged';
  /** It says only that nothing more came. While a person's decision closes the payout, it is not found again (P32). */
  isSilence: boolean;
  /** It speaks against the evidence that made the payout final, so that a person may close it all the same (P32). */
  againstEvidence: boolean;
  /** While it is open, what the results say of the payout may be wrong. */
  againstState: boolean;
  /** How it enters the verdict of a run. */
  inVerdict: InVerdict;
};

/**
 * How a discrepancy enters the verdict on its currency: `line`: a line of the statement has its money; `itself`: it says
 * that money is elsewhere or was paid twice, perhaps without a line, so that it counts until it is resolved; `not`: it is
 * about a delay, a fee, a webhook, or a return that both sides agree about.
 */
export type InVerdict = 'line' | 'itself' | 'not';

const wrongMoney: Rating = { moved: 'high', still: 'medium', most: 'high', afterDays: null, urgent: false };
/** Nobody has this money wrongly, yet somebody waits for it: a delay that lasts is grave. */
const delay: Rating = { moved: 'medium', still: 'medium', most: 'high', afterDays: 3, urgent: false };
const nuisance: Rating = { moved: 'low', still: 'low', most: 'medium', afterDays: 7, urgent: false };

/** It speaks against nothing that is known of the payout. */
const noDoubt = { isSilence: false, againstEvidence: false, againstState: false, inVerdict: 'not' } as const;
/** Nothing more came, and a person's decision about the payout ends that. */
const silence = { ...noDoubt, onClose: 'resolved', isSilence: true } as const;
/** Another transfer than the one that was ordered: it speaks against all that is known of the payout. */
const notAsOrdered: KindRules = {
  shownBy: 'transfer',
  rating: wrongMoney,
  onClose: 'acknowledged',
  isSilence: false,
  againstEvidence: true,
  againstState: true,
  inVerdict: 'itself',
};

/** It does not end with its payout. */
const lasting = { ...noDoubt, onClose: 'acknowledged' } as const;

/** The kinds that payouts, listed transfers and expected collections can have, each with an answer to every rule. */
const rules = {
  missing_at_service: {
    ...silence,
    shownBy: 'no_transfer',
    rating: wrongMoney,
    againstEvidence: true,
    againstState: true,
    inVerdict: 'line',
  },
  missing_in_ledger: { ...lasting, shownBy: 'foreign_transfer', rating: wrongMoney, inVerdict: 'line' },
  status_conflict: { ...notAsOrdered, onClose: 'resolved' },
  amount_conflict: { ...notAsOrdered, inVerdict: 'line' },
  currency_conflict: { ...notAsOrdered, inVerdict: 'line' },
  beneficiary_conflict: notAsOrdered,
  mode_conflict: notAsOrdered,
  reference_collision: { ...notAsOrdered, onClose: 'resolved' },
  fee_conflict: { ...lasting, shownBy: 'ledger', rating: { ...nuisance, afterDays: 30 } },
  duplicate_at_service: {
    ...lasting,
    shownBy: 'transfer_count',
    rating: wrongMoney,
    inVerdict: 'line',
  },
  paid_twice: {
    ...lasting,
    shownBy: 'transfer_count',
    rating: { ...wrongMoney, still: 'high', urgent: true },
    againstState: true,
    inVerdict: 'itself',
  },
  stale_pending: { ...silence, shownBy: 'ledger', rating: delay },
  unknown_outcome: { ...silence, shownBy: 'ledger', rating: { ...wrongMoney, afterDays: 3 } },
  webhook_missing: { ...silence, shownBy: 'no_webhook', rating: nuisance },
  webhook_conflict: {
    ...noDoubt,
    shownBy: 'ledger',
    rating: { ...delay, afterDays: 7 },
    onClose: 'resolved',
    againstEvidence: true,
  },
  returned_after_success: { ...lasting, shownBy: 'ledger', rating: delay },
  collection_missing: { ...lasting, shownBy: 'collections', rating: { ...delay, afterDays: 7 } },
  collection_conflict: { ...lasting, shownBy: 'collections', rating: wrongMoney },
} satisfies Record<string, KindRules>;
export type DiscrepancyKind = keyof typeof rules;
export const kindRules: Readonly<Record<DiscrepancyKind, KindRules>> = rules;

export const discrepancyKinds = Object.keys(kindRules).filter(isDiscrepancyKind).toSorted();

export function kindsWhere(test: (rules: KindRules) => boolean): DiscrepancyKind[] {
  return discrepancyKinds.filter((kind) => test(kindRules[kind]));
}

export function kindsShownBy(way: ShownBy): DiscrepancyKind[] {
  return kindsWhere(({ shownBy }) => shownBy === way);
}

export function isDiscrepancyKind(name: string): name is DiscrepancyKind {
  return Object.hasOwn(kindRules, name);
}
