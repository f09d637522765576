import { decimalDifference } from './discrepancy.ts';
import { addEvidence, type RecordSource, sources } from './payout.ts';

/** The fees of one payout by who named them, as the ledger keeps them. */
export type Fees = {
  /** The fee that was named first, as decimal text; null while unknown. */
  fee: string | null;
  /** The sources that named this fee, such as `webhook+details`. */
  fee_by: string | null;
  /** JSON of the sources that name another fee now; null while all agree. */
  other_fees: string | null;
};

/** A fee that differs from the first one, and who names it. */
export type OtherFee = { source: RecordSource; fee: string };

/** Adds what a source says now; an absent fee says nothing. The first fee stays: a person decides between the two. */
export function nameFee(known: Fees, source: RecordSource, fee: string | null): Fees {
  if (fee === null) return known;
  if (known.fee === null) return { fee, fee_by: source, other_fees: null };
  const others = otherFees(known).filter((one) => one.source !== source);
  const agrees = isSameFee(fee, known.fee);
  const now = agrees ? others : [...others, { source, fee }];
  const fee_by = agrees ? addEvidence(known.fee_by ?? '', source) : known.fee_by;
  return { fee: known.fee, fee_by, other_fees: written(now) };
}

/** Reads who names another fee, in the order of {@link sources}. */
export function otherFees({ other_fees: text }: Pick<Fees, 'other_fees'>): OtherFee[] {
  const named: Record<string, unknown> = text === null ? {} : JSON.parse(text);
  return sources.flatMap((source) => {
    const fee = named[source];
    return typeof fee === 'string' ? [{ source, fee }] : [];
  });
}

/** True if both are the same amount: 53.75 is 53.750. What is no decimal must be the same text (P30). */
export function isSameFee(one: string, other: string): boolean {
  const difference = decimalDifference(one, other);
  return difference === '' ? one === other : !/[1-9]/.test(difference);
}

function written(others: readonly OtherFee[]): string | null {
  if (others.length === 0) return null;
  const inOrder = sources.flatMap((source) => others.find((one) => one.source === source) ?? []);
  return JSON.stringify(Object.fromEntries(inOrder.map(({ source, fee }) => [source, fee])));
}
