import type { Element } from './elements.ts';
import type { Play } from './plays.ts';

/** Why these two cannot both happen in one play; null where they can. The run fails where both do all the same. */
export function impossible({ elements, order }: Play): string | null {
  for (const [i, one] of elements.entries())
    for (const other of elements.slice(i + 1)) {
      const why = whyNot(one, other, order) ?? whyNot(other, one, order);
      if (why !== null) return why;
    }
  return null;
}

/** By the two kinds, in either order. */
export const impossibleRows: readonly { one: RegExp; other: RegExp; order?: Play['order']; why: string }[] = [
  {
    ...{ one: /^hold: original_held/, other: /^hold: original_held/ },
    why: 'one payout that failed is paid again once',
  },
  {
    ...{ one: /^list: a stranger/, other: /^list: counts/, order: 'at once' },
    why: 'one list has one flaw at a time',
  },
];

function whyNot(one: Element, other: Element, order: Play['order']): string | null {
  const found = impossibleRows.find(
    (row) => row.one.test(one.id) && row.other.test(other.id) && (row.order ?? order) === order,
  );
  return found?.why ?? null;
}
