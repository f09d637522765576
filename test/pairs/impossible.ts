import type { Element } from './elements.ts';
import type { Play } from './plays.ts';

/** Why these two cannot both happen in one play; null where they can. The run fails where both do all the same. */
export function impossible({ elements }: Play): string | null {
  for (const [i, one] of elements.entries())
    for (const other of elements.slice(i + 1)) {
      const why = whyNot(one, other) ?? whyNot(other, one);
      if (why !== null) return why;
    }
  return null;
}

function whyNot(_one: Element, _other: Element): string | null {
  return null;
}
