/**
 * P28: the instant (ISO UTC) by which a send must have ended for its absence from the listing to mean anything. `cut`:
 * up to when the listing is proven. `begunAt`: when reading began, which limits it too, since the service's clock may
 * run ahead.
 */
export function graceBegan(cut: string, begunAt: string, graceMinutes: number): string {
  const earlier = cut < begunAt ? cut : begunAt;
  return new Date(Date.parse(earlier) - graceMinutes * 60_000).toISOString();
}

/**
 * P33: the instant (ISO UTC) after which only a wrong clock can have stamped a record made before `begunAt`. Such a
 * stamp does not show the record's age, so it counts as old: otherwise it could be too young to be missing for a year.
 */
export function graceEnds(begunAt: string, graceMinutes: number): string {
  return new Date(Date.parse(begunAt) + graceMinutes * 60_000).toISOString();
}
