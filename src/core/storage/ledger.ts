import type { Kysely, Transaction } from 'kysely';
import type { AdvisedReason } from '../domain/advice.ts';
import type { Mode } from '../domain/payout.ts';
import type { Place } from './place.ts';
import type { PostgresSession } from './postgres-session.ts';
import type { Tables } from './tables/tables.ts';

/** A connection to the ledger outside any transaction. */
export type Db = Kysely<Tables>;
/** A committed-or-nothing unit of work; a function that needs one takes it as its first argument. */
export type Trx = Transaction<Tables>;

export type Ledger = {
  db: Db;
  /** Its SQLite file. On PostgreSQL, the base name of the files that this machine keeps for it. */
  path: string;
  place: Place;
  /** Locks of a ledger on PostgreSQL, which processes on every machine see. Null: the ledger's locks are files. */
  session: Pick<PostgresSession, 'hold' | 'isFree' | 'holders' | 'lost'> | null;
  /** The instance id: identifies the ledger wherever its file is. */
  id: string;
  /** When the ledger was created, ISO UTC. */
  birth: string;
  /** The one mode that the ledger belongs to, from its creation (P24). */
  mode: Mode;
  /** Why a ledger that was opened to read, and went back in time, may send nothing; null where it records that (P25). */
  unnotedFall: (AdvisedReason & { at: string }) | null;
  /** Runs `work` in one transaction, exclusive among all writers. Never await the network inside. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};
