/** Requests that reached the initiation endpoint, whatever their outcome. */
export type RequestCounts = {
  /** Bodies received completely. */
  readonly posts: number;
  /** Bodies that carried this reference. */
  bodies(reference: string): number;
};

/** Counts the bodies of initiations: the proof that a payout was sent once. */
export function createRequestCounter(): {
  counts: RequestCounts;
  received: (reference: string | undefined) => void;
} {
  const byReference = new Map<string, number>();
  let posts = 0;
  return {
    counts: {
      get posts() {
        return posts;
      },
      bodies: (reference) => byReference.get(reference) ?? 0,
    },
    received(reference) {
      posts += 1;
      if (reference !== undefined) byReference.set(reference, (byReference.get(reference) ?? 0) + 1);
    },
  };
}
