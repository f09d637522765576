import type { Mode } from '../core/domain/payout.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';

export type OpenOptions = {
  now: () => string;
  /** A new ledger is bound to this mode, and an existing one must have it (P24). Absent: any; a new one gets test mode. */
  mode?: Mode;
  maxPageCount?: number;
  /** The event loop gets a turn between the statements of a SQLite ledger, however many follow each other. */
  breathes?: boolean;
  /** Only reads: nothing is created, upgraded, recorded or marked, and `write` is refused. */
  reads?: boolean;
  /**
   * The caller has shut the gate. `owner` may write a sealed ledger. `copy` has no mark yet, so that a missing one
   * means nothing. `upgrade` brings the tables to this version; the caller has made a backup.
   */
  alone?: 'owner' | 'copy' | 'upgrade';
  /** Fills a new ledger on PostgreSQL, in the transaction that creates its tables: both exist, or neither. */
  fill?: (trx: Trx) => Promise<void>;
};

/** A ledger with its tables; `seal` makes its connections read-only. */
export type Opened = Pick<Ledger, 'db' | 'write' | 'close' | 'place' | 'session'> & {
  seal(): void | Promise<void>;
};

/** The parts of opening that all databases share. */
export type Common = {
  mustMigrate(done: readonly string[] | null, name: string, options: OpenOptions): boolean;
  migrate(trx: Trx, mode: OpenOptions['mode'], schema: string): Promise<void>;
  settle(opened: Opened, options: OpenOptions): Promise<Ledger>;
};
