import type { BankTransferRequest, CollectionData, WireDomain } from '../core/service/wire.ts';
import type { FaultFor } from './faults.ts';
import { createCollections } from './incoming.ts';
import { createListedRows, type SandboxListOrder, type Shelved } from './listed-rows.ts';
import type { Random } from './random.ts';
import { createStamp, type Now } from './sandbox-clock.ts';
import { type BookedTransfer, createIdentifiers, transferOf } from './transfer.ts';

/** What `change` may alter: everything except the identity of the transfer. */
export type TransferPatch = Partial<Omit<BookedTransfer, 'id' | 'mode'>>;

export type Book = ReturnType<typeof createBook>;

/** The service's own book of money moved: both what it shows and what is true. Empty at first. */
export function createBook(deps: {
  now: Now;
  random: Random;
  listOrder: SandboxListOrder;
  /** The faults of collections; payouts meet theirs at initiation. */
  faultFor: FaultFor;
  announceCollection: (collection: CollectionData) => void;
}) {
  const stamp = createStamp(deps.now);
  const identifiers = createIdentifiers(deps.random);
  const listed = createListedRows(deps.listOrder);
  const collections = createCollections({
    now: deps.now,
    faultFor: deps.faultFor,
    announce: deps.announceCollection,
  });
  const all: BookedTransfer[] = [];
  const byMode: Record<WireDomain, BookedTransfer[]> = { test: [], live: [] };
  const byId = new Map<number, Shelved>();
  const byReference = new Map<string, Shelved[]>();
  let lastId = 480_000;
  let changes = 0;

  function book(transfer: BookedTransfer): BookedTransfer {
    changes += 1;
    const item: Shelved = { transfer, change: changes, hidden: false };
    all.push(transfer);
    byMode[transfer.mode].push(transfer);
    byId.set(transfer.id, item);
    byReference.set(transfer.reference, [...withReference(transfer.reference), item]);
    listed.put(item);
    return transfer;
  }

  /** Books an order that was taken, as pending. */
  function enter(mode: WireDomain, order: BankTransferRequest, patch: TransferPatch = {}): BookedTransfer {
    lastId += 1;
    const made = { id: lastId, trx: identifiers.trx(lastId), mode, at: stamp() };
    return book(Object.assign(transferOf(order, made), patch));
  }

  function itemOf(id: number): Shelved {
    const item = byId.get(id);
    if (item === undefined) throw new Error(`book: expected the id of a booked transfer, got ${id}`);
    return item;
  }

  function withReference(reference: string): readonly Shelved[] {
    return byReference.get(reference) ?? [];
  }

  /** The bank's identifiers for a settled transfer. */
  function bankIdentifiers(): { transactionRef: string; sessionid: string } {
    return { transactionRef: identifiers.transactionRef(), sessionid: identifiers.sessionid() };
  }

  return {
    /** Every transfer ever booked, oldest first, including those hidden by `remove`. */
    transfers: (mode?: WireDomain): readonly BookedTransfer[] => (mode === undefined ? all : byMode[mode]),
    /** Every transfer of that reference, in both modes, oldest first. */
    find: (reference: string) => withReference(reference).map((item) => item.transfer),
    /** The first transfer of that reference that the mode still shows. */
    shown: (mode: WireDomain, reference: string) =>
      withReference(reference).find((item) => item.transfer.mode === mode && !item.hidden)?.transfer,
    has: (mode: WireDomain, reference: string) =>
      withReference(reference).some((item) => item.transfer.mode === mode),
    rows: listed.rows,
    size: listed.size,
    /** How many times money left for that reference. */
    moneyMoved: (reference: string) =>
      withReference(reference).filter((item) => item.transfer.moneyMoved).length,
    enter,
    /** Books a transfer that nobody ordered; by default a success whose money left. */
    plant(partial: Partial<BookedTransfer> = {}): BookedTransfer {
      const { id: _id, ...patch } = partial;
      const status = partial.status ?? 'success';
      const settled = status === 'success' ? { ...bankIdentifiers(), moneyMoved: true } : {};
      const mode = partial.mode ?? 'test';
      return enter(mode, strangeOrder(partial, lastId + 1), { status, ...settled, ...patch });
    },
    /** Changes what the service shows of a transfer, and `updated_at`. Throws when there is no such id. */
    change(id: number, patch: TransferPatch): BookedTransfer {
      const item = itemOf(id);
      listed.take(item);
      changes += 1;
      item.change = changes;
      Object.assign(item.transfer, { updated_at: stamp() }, patch);
      listed.put(item);
      return item.transfer;
    },
    /** Hides a transfer from lists and details; the book keeps it. Throws when there is no such id. */
    remove(id: number): void {
      const item = itemOf(id);
      listed.take(item);
      item.hidden = true;
    },
    addCollection: collections.add,
    changeCollection: collections.change,
    collection: collections.find,
    shownCollection: collections.shown,
    bankIdentifiers,
  };
}

function strangeOrder(partial: Partial<BookedTransfer>, id: number): BankTransferRequest {
  return {
    account_number: partial.account_number ?? '9876543210',
    account_name: partial.account_name ?? 'NOBODY WE KNOW',
    bank_code: partial.bank_code ?? '000014',
    amount: partial.amount ?? '7500.00',
    currency: partial.currency ?? 'NGN',
    sender_name: 'Unknown',
    narration: partial.narration ?? 'Not ordered here',
    reference: partial.reference ?? `STRANGER-${id}`,
  };
}
