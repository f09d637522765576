/**
 * P28: the instant (ISO UTC) up to which a send must have ended for its absence from the list to mean anything. `cut`: up to
 * when the list is proven; `begunAt`: when we began to read it, which counts too, should the service's clock be ahead.
 */
export function graceBegan(cut: string, begunAt: string, graceMinutes: number): string {
  const earlier = cut < begunAt ? cut : begunAt;
  return new Date(Date.parse(earlier) - graceMinutes * 60_000).toISOString();
}
