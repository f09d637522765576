/** An edit distance up to this counts as a slip of the finger. */
export const slip = 2;

/** The known name that a mistyped one most likely means, whatever its case, and how far it is; undefined for none. */
export function nearest(name: string, known: readonly string[]): { name: string; far: number } | undefined {
  const [first] = known
    .map((one) => ({ name: one, far: distance(name.toLowerCase(), one.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  return first;
}

/** The known name that a mistyped one is a slip away from, or begins. */
export function likely(name: string, known: readonly string[]): string | undefined {
  const best = nearest(name, known);
  // Of a short name, two wrong letters leave nothing.
  const most = Math.min(slip, Math.floor(name.length / 2));
  if (best && best.far <= most) return best.name;
  if (name === '') return undefined;
  const begun = known.find((one) => one.toLowerCase().startsWith(name.toLowerCase()));
  return begun ?? misspeltBeginning(name, known);
}

/** A shorter beginning is a slip away from too many names. */
const shortestBeginning = 6;

/** The known name of which a long enough beginning was mistyped, such as `novmber-2026` of `november-20261121-3f9a1c`. */
function misspeltBeginning(name: string, known: readonly string[]): string | undefined {
  if (name.length < shortestBeginning) return undefined;
  const [best] = known
    .map((one) => ({ one, far: Math.min(...distances(name.toLowerCase(), one.toLowerCase())) }))
    .toSorted((a, b) => a.far - b.far);
  return best && best.far <= slip ? best.one : undefined;
}

function distance(a: string, b: string): number {
  return distances(a, b)[b.length] ?? 0;
}

/** The edit distances of `a` to every beginning of `b`, the empty one first. */
function distances(a: string, b: string): number[] {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row;
}
