import type { Kysely, Transaction } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import type { Place } from './place.ts';
import type { Session } from './postgres-session.ts';
import type { Tables } from './tables/tables.ts';

/** A connection to the ledger outside any transaction. */
export type Db = Kysely<Tables>;
/** A committed-or-nothing unit of work; a function that needs one takes it as its first argument. */
export type Trx = Transaction<Tables>;

export type Ledger = {
  db: Db;
  /** Its SQLite file; on PostgreSQL the name beside which this machine keeps what belongs to it. */
  path: string;
  place: Place;
  /** Locks that every process of a ledger on PostgreSQL sees, on whatever machine; null: files are its locks. */
  session: Pick<Session, 'hold' | 'isFree' | 'holders' | 'lost'> | null;
  /** The instance id: which ledger this is, wherever its file lies. */
  id: string;
  /** When the ledger was made, ISO UTC. */
  birth: string;
  /** The one mode that it belongs to from its birth (P24). */
  mode: Mode;
  /** Why nothing may be sent from a ledger that only reads and went back in time, unless that is noted in it (P25). */
  unnotedFall: { cause: string; at: string } | null;
  /** Runs `work` in one transaction that is alone among all writers. Never await the network inside. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};
