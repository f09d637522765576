/** What one walk over all pages came to (P28). Instants are ISO UTC with milliseconds. */
export type Pass = {
  /** The `Date` header of page 1, whole seconds: what was created later may be missing from the pages. */
  cut: string;
  /** Page 1's `total`. */
  total: number;
  /** Distinct ids shown by this pass that were created no later than its own cut. */
  belowCut: number;
  perPageChanged: boolean;
  /** Why the walk ended early; null when every page came. */
  trouble: string | null;
};

/** How many ids below the earlier pass's cut the later pass showed, and how many of those both passes showed. */
export type Overlap = { later: number; both: number };

/** What listing everything came to; what is missing may only be judged when it is complete. */
export type ListingResult = {
  complete: boolean;
  passes: number;
  /** Distinct ids seen by any pass. */
  listed: number;
  /** Everything created no later than this is listed, when complete; ISO UTC. */
  cut: string;
  oldestCreatedAt: string | null;
  /** True when a row of the other mode was listed (P24). */
  otherDomainSeen: boolean;
  trouble?: string;
};

/** P28: a pass is sound when it shows exactly as many ids below its cut as page 1 counted, under one page size. */
export function isSound(pass: Pass): boolean {
  return pass.trouble === null && !pass.perPageChanged && pass.belowCut === pass.total;
}

/** P28: two consecutive sound passes that show the same ids below the first cut make the listing complete. */
export function makeComplete(earlier: Pass, later: Pass, overlap: Overlap): boolean {
  if (!isSound(earlier) || !isSound(later)) return false;
  return overlap.later === earlier.total && overlap.both === earlier.total;
}
