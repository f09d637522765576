/**
 * P28: the instant (ISO UTC) up to which a send must have ended for its absence from the list to mean anything. `cut`: up to
 * when the list is proven; `begunAt`: when we began to read it, which counts too, should the service's clock be ahead.
 */
export function graceBegan(cut: string, begunAt: string, graceMinutes: number): string {
  const earlier = cut < begunAt ? cut : begunAt;
  return new Date(Date.parse(earlier) - graceMinutes * 60_000).toISOString();
}

/**
 * P33: the instant (ISO UTC) after which nothing recorded before `begunAt` can be stamped but by a wrong clock. What such a
 * clock wrote says nothing of its age, and counts as old: else it would be too young to be missed for a year.
 */
export function graceEnds(begunAt: string, graceMinutes: number): string {
  return new Date(Date.parse(begunAt) + graceMinutes * 60_000).toISOString();
}
