/** Counts the bodies of initiations, whatever their outcome: the proof that a payout was sent once. */
export function createRequestCounter() {
  const byReference = new Map<string, number>();
  let posts = 0;
  return {
    counts: {
      /** Bodies received completely. */
      get posts(): number {
        return posts;
      },
      /** Bodies that carried this reference. */
      bodies: (reference: string) => byReference.get(reference) ?? 0,
    },
    received(reference: string | undefined): void {
      posts += 1;
      if (reference !== undefined) byReference.set(reference, (byReference.get(reference) ?? 0) + 1);
    },
  };
}
