import type { Mode } from '../domain/payout.ts';
import type { Ledger, Trx } from '../storage/ledger.ts';

export type OpenOptions = {
  now: () => string;
  /**
   * The mode of this process: a new ledger is bound to it, and any other must be of it (P24). Absent: whatever the
   * ledger belongs to, and a new one is of test mode.
   */
  mode?: Mode;
  maxPageCount?: number;
  /** The event loop gets its turn between the statements of a SQLite ledger, however many follow each other. */
  breathes?: boolean;
  /** Only reads: nothing is made, upgraded, noted or marked, and `write` is refused. */
  reads?: boolean;
  /**
   * The caller has shut the gate: as `owner` it may write what is sealed; a `copy` has no mark beside it yet, so that a
   * missing one says nothing; `upgrade` brings the tables to this version, and the caller has made a backup.
   */
  alone?: 'owner' | 'copy' | 'upgrade';
  /** Fills a new ledger on PostgreSQL, in the transaction that makes its tables: both are there, or neither. */
  fill?: (trx: Trx) => Promise<void>;
};

/** A ledger whose tables are there; `seal` makes its connections read only. */
export type Opened = Pick<Ledger, 'db' | 'write' | 'close' | 'place' | 'session'> & {
  seal(): void | Promise<void>;
};

/** The parts of opening that are the same for every database. */
export type Common = {
  mustMigrate(done: readonly string[] | null, name: string, options: OpenOptions): boolean;
  migrate(trx: Trx, mode: OpenOptions['mode'], schema: string): Promise<void>;
  settle(opened: Opened, options: OpenOptions): Promise<Ledger>;
};
