import type { ListOrder } from '../../core/domain/list-order.ts';

/** The result of one walk over the pages (P28). Instants are ISO UTC with milliseconds. */
export type Pass = {
  /** The `Date` header of page 1, in whole seconds. Transfers created later may be missing from the pages. */
  cut: string;
  /** Page 1's `total`. */
  total: number;
  /**
   * Distinct ids of this pass created no later than its own cut. In a short cut (P29): those inside the edge, plus the
   * base listing's older ones.
   */
  belowCut: number;
  /** Distinct ids of this pass created later than its own cut. */
  aheadOfCut?: number;
  perPageChanged: boolean;
  /** Why the walk ended early; null when every page came. */
  trouble: string | null;
};

/** How many ids below the earlier pass's cut the later pass showed, and how many of those both passes showed. */
export type Overlap = { later: number; both: number };

/** The result of a listing. Only inside what it covers may transfers be judged missing. */
export type ListingResult = {
  /** `window`: whole from the edge on (P29); false: nothing is proven. */
  complete: boolean | 'window';
  passes: number;
  /** Distinct ids seen by any pass. */
  listed: number;
  /** When complete: everything created no later than this is listed; ISO UTC. */
  cut: string;
  oldestCreatedAt: string | null;
  /** True when a row of the other mode was listed (P24). */
  otherDomainSeen: boolean;
  /** The order that both agreeing full walks saw; absent or null when it is unknown. */
  order?: ListOrder | null;
  /** For a short cut: the instant from which it looked (ISO UTC), and the run whose older rows stand for the rest. */
  window?: { edge: string; base: string };
  trouble?: string;
  /** What the last walk over the whole list showed, where it proves nothing; absent where no page of it came. */
  gap?: ListGap;
};

/** A row with its own time, ISO UTC. */
export type AheadRow = { transferId: string; reference: string; createdAt: string };

/** What a list showed that could not be proven complete: page 1's total, the distinct ids, and rows after the cut. */
export type ListGap = { total: number; shown: number; ahead: { count: number; first: AheadRow[] } };

/** P28: a pass is sound when it shows exactly as many ids below its cut as page 1 counted, with one page size. */
export function isSound(pass: Pass): boolean {
  return pass.trouble === null && !pass.perPageChanged && pass.belowCut === pass.total;
}

/** P28: two consecutive sound passes that show the same ids below the first cut make the listing complete. */
export function makeComplete(earlier: Pass, later: Pass, overlap: Overlap): boolean {
  if (!isSound(earlier) || !isSound(later)) return false;
  return overlap.later === earlier.total && overlap.both === earlier.total;
}

/**
 * Whether the list changed from one pass to the next: other ids below the first cut, or another difference between the
 * total and the rows. Rows that are created meanwhile do not count: they change both alike.
 */
export function isChanged(earlier: Pass, later: Pass, overlap: Overlap): boolean {
  const lacks = (pass: Pass): number => pass.total - pass.belowCut;
  const { belowCut } = earlier;
  return overlap.later !== belowCut || overlap.both !== belowCut || lacks(earlier) !== lacks(later);
}

/**
 * Why passes over a list prove nothing, for people; null when the last one is sound. `changed`: whether the list changed
 * between the passes; null where nobody can say.
 */
export function whyUnsound(pass: Pass, changed: boolean | null): string | null {
  if (pass.trouble !== null) return pass.trouble;
  if (pass.perPageChanged) return 'the page size changed while the list was read';
  if (pass.belowCut === pass.total) return null;
  const { aheadOfCut: ahead = 0, total } = pass;
  if (ahead > 0 && pass.belowCut + ahead === total) {
    const cause =
      changed === false
        ? 'the times are wrong, or in another zone than they state'
        : 'they were created just now, or the times are in another zone than they state';
    return `${ahead} of the list’s ${total} transfers ${ahead === 1 ? 'has' : 'have'} a time after the service’s own clock, ${pass.cut}: ${cause}`;
  }
  const shown = pass.belowCut + ahead;
  if (changed === false)
    return `the list’s first page counts ${total} transfers, its pages show ${shown}, and between the passes no row changed`;
  const counts = `its first page counted ${total} transfers, its pages showed ${shown}`;
  return changed ? `the list changed while it was read: ${counts}` : counts;
}
