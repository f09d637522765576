import type { TransferRecord } from '../../src/core/service/wire.ts';

/** Ours, or one that the configuration names for a while, by another address or another key. */
export type Account = 'home' | 'address' | 'key';

/** A transfer as the service has it. It shows itself in lists and details from `shownFrom` on, true time. */
export type Entry = {
  record: TransferRecord;
  shownFrom: number;
  /** Money left the merchant's balance, whether or not it came back later. */
  moved: boolean;
  returned: boolean;
  /** When it came back, and when that turned out not to be so, true time. */
  returnedAt: number | null;
  undoneAt: number | null;
  account: Account;
  /** When it turned out to be paid after it had failed, true time. */
  turnedAt: number | null;
};

/** One POST of bank_transfer whose bytes came to the service or its edge. */
export type Arrival = {
  at: number;
  reference: string;
  account: Account;
  body: string;
  /** From the answer nobody can tell that this was not taken: it counts as possibly taken. */
  mayBeTaken: boolean;
  fault: string | null;
};

export type Book = {
  entries(reference: string): readonly Entry[];
  all(): readonly Entry[];
  add(order: Order, place: { account: Account; at: number; shownFrom: number }): Entry;
  arrivals(reference: string): readonly Arrival[];
  arrive(arrival: Arrival): void;
  /** Transfers whose money moved. */
  timesPaid(reference: string): number;
};

export type Order = {
  reference: string;
  amount: string;
  currency: string;
  account_number: string;
  account_name: string;
  bank_code: string;
  narration: string;
};

/** The service's own book of money moved: what the oracle believes, whatever the ledger says. */
export function createBook(): Book {
  const byReference = new Map<string, Entry[]>();
  const arrived = new Map<string, Arrival[]>();
  const every: Entry[] = [];
  return {
    entries: (reference) => byReference.get(reference) ?? [],
    all: () => every,
    add(order, { account, at, shownFrom }) {
      const id = 500_000 + every.length;
      const stamp = stampOf(at);
      const record: TransferRecord = {
        ...order,
        id,
        trx: `TRX${id}`,
        transactionRef: null,
        sessionid: null,
        fee: order.currency === 'NGN' ? '53.75' : '10.00',
        bank_name: 'A bank',
        domain: 'test',
        status: 'pending',
        created_at: stamp,
        updated_at: stamp,
      };
      const entry: Entry = {
        ...{ record, shownFrom, moved: false, returned: false, account },
        ...{ turnedAt: null, returnedAt: null, undoneAt: null },
      };
      every.push(entry);
      byReference.set(order.reference, [...(byReference.get(order.reference) ?? []), entry]);
      return entry;
    },
    arrivals: (reference) => arrived.get(reference) ?? [],
    arrive: (arrival) =>
      void arrived.set(arrival.reference, [...(arrived.get(arrival.reference) ?? []), arrival]),
    timesPaid: (reference) => (byReference.get(reference) ?? []).filter(({ moved }) => moved).length,
  };
}

/** An instant as the service writes it: UTC with microseconds. */
export function stampOf(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
