import type { WireDomain } from '../service/wire.ts';
import { createOrderedIndex, type OrderedIndex } from './ordered-index.ts';
import type { BookedTransfer } from './transfer.ts';

/** The order of list rows. The document does not show one ("Initiate a bank transfer", last line). */
export type ListOrder = 'newest' | 'oldest' | 'updated';

/** One transfer with its position in the order of changes, and whether the lists hide it. */
export type Shelved = { transfer: BookedTransfer; change: number; hidden: boolean };

/** The transfers that the service shows, ordered for its lists. */
export type Shelves = {
  put(item: Shelved): void;
  take(item: Shelved): void;
  /** A mode's transfers, `count` of them from row `start`, of one status or of all. */
  rows(mode: WireDomain, status: string | undefined, start: number, count: number): readonly BookedTransfer[];
  size(mode: WireDomain, status: string | undefined): number;
};

/** Empty shelves in the given order. Take an item out before its status or its `change` changes. */
export function createShelves(order: ListOrder): Shelves {
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

  return {
    put(item) {
      if (item.hidden) return;
      shelf(item.transfer.mode, undefined).insert(item);
      shelf(item.transfer.mode, item.transfer.status).insert(item);
    },
    take(item) {
      if (item.hidden) return;
      shelf(item.transfer.mode, undefined).remove(item);
      shelf(item.transfer.mode, item.transfer.status).remove(item);
    },
    rows: (mode, status, start, count) =>
      shelf(mode, status)
        .slice(start, count, order !== 'oldest')
        .map((item) => item.transfer),
    size: (mode, status) => shelf(mode, status).size(),
  };
}
