import type { WireDomain } from '../core/service/wire.ts';
import { createOrderedIndex, type OrderedIndex } from './ordered-index.ts';
import type { BookedTransfer } from './transfer.ts';

/** The order of list rows. The document does not show one ("Initiate a bank transfer", last line). */
export type SandboxListOrder = 'newest' | 'oldest' | 'updated';

/** One transfer with its position in the order of changes, and whether the lists hide it. */
export type Shelved = { transfer: BookedTransfer; change: number; hidden: boolean };

/**
 * The transfers that the service shows, ordered for its lists; none at first. Take an item out before its status or its
 * `change` changes.
 */
export function createListedRows(order: SandboxListOrder) {
  const shelves = new Map<string, OrderedIndex<Shelved>>();
  const keyOf = order === 'updated' ? (item: Shelved) => item.change : (item: Shelved) => item.transfer.id;

  function shelf(mode: WireDomain, status: string | undefined): OrderedIndex<Shelved> {
    const name = status === undefined ? mode : `${mode} ${status}`;
    const known = shelves.get(name);
    if (known !== undefined) return known;
    const made = createOrderedIndex(keyOf);
    shelves.set(name, made);
    return made;
  }

  const shelvesOf = ({ hidden, transfer: { mode, status } }: Shelved): OrderedIndex<Shelved>[] =>
    hidden ? [] : [shelf(mode, undefined), shelf(mode, status)];

  return {
    put(item: Shelved): void {
      for (const one of shelvesOf(item)) one.insert(item);
    },
    take(item: Shelved): void {
      for (const one of shelvesOf(item)) one.remove(item);
    },
    /** A mode's transfers, `count` of them from row `start`, of one status or of all. */
    rows: (mode: WireDomain, status: string | undefined, start: number, count: number) =>
      shelf(mode, status)
        .slice(start, count, order !== 'oldest')
        .map((item) => item.transfer),
    size: (mode: WireDomain, status?: string) => shelf(mode, status).size(),
  };
}
