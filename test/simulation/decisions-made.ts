import type { Book } from './book.ts';

/** What people, and automatic confirmation, have ordered: the only thing that allows a second POST. */
export type Decisions = {
  /** A person is about to order one more POST of an unknown payout. */
  announceRetry(reference: string, facts: { afterQuietPeriod: boolean }): void;
  /** The ledger has recorded one; false when nobody had announced it. */
  hearRetry(reference: string): boolean;
  /** Confirmed absence orders one more POST; false when it did so before. */
  confirmAbsent(reference: string): boolean;
  /** It was sent, the ledger that knew was lost, and a person has it taken in again. */
  orderAgain(reference: string): void;
  isOrderedAgain(reference: string): boolean;
  retries(reference: string): number;
  /** A person has said what became of it, rightly or not. */
  settle(reference: string): void;
  isSettled(reference: string): boolean;
  /** Bytes left a process that was stopped after its last check. */
  leftLate(reference: string): void;
  isLate(reference: string): boolean;
  /** Whose account a second payment is on, or null when nothing explains it. */
  blame(reference: string): 'operator' | 'cannot know: hidden' | 'cannot know: stopped' | null;
};

export function createDecisions(book: Book, now: () => number, quietPeriodMs: number): Decisions {
  const ordered = new Map<string, { hidden: boolean; absent: boolean; afterQuietPeriod: boolean }[]>();
  const announced = new Map<string, boolean>();
  const automatic = new Set<string>();
  const again = new Set<string>();
  const settled = new Set<string>();
  const late = new Set<string>();
  const order = (reference: string, afterQuietPeriod: boolean): void => {
    const entries = book.entries(reference);
    const hidden = entries.length > 0 && entries.every((entry) => entry.shownFrom > now());
    const one = { hidden, absent: entries.length === 0, afterQuietPeriod };
    ordered.set(reference, [...(ordered.get(reference) ?? []), one]);
  };
  return {
    announceRetry: (reference, { afterQuietPeriod }) => void announced.set(reference, afterQuietPeriod),
    hearRetry(reference) {
      const afterQuietPeriod = announced.get(reference);
      announced.delete(reference);
      if (afterQuietPeriod !== undefined) order(reference, afterQuietPeriod);
      return afterQuietPeriod !== undefined;
    },
    confirmAbsent(reference) {
      order(reference, true);
      const first = !automatic.has(reference);
      automatic.add(reference);
      return first;
    },
    orderAgain(reference) {
      const last = book.arrivals(reference).at(-1)?.at ?? now();
      order(reference, now() - last > quietPeriodMs);
      again.add(reference);
    },
    isOrderedAgain: (reference) => again.has(reference),
    retries: (reference) => ordered.get(reference)?.length ?? 0,
    settle: (reference) => void settled.add(reference),
    isSettled: (reference) => settled.has(reference),
    leftLate: (reference) => void late.add(reference),
    isLate: (reference) => late.has(reference),
    blame(reference) {
      const retries = ordered.get(reference) ?? [];
      if (late.has(reference)) return 'cannot know: stopped';
      if (retries.length === 0) return null;
      const blameless = retries.every(
        ({ hidden, absent, afterQuietPeriod }) => afterQuietPeriod && (hidden || absent),
      );
      return blameless ? 'cannot know: hidden' : 'operator';
    },
  };
}
