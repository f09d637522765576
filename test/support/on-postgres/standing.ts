import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server on which every ledger of these tests is a database; absent where ledgers are files. */
    ledgerServer?: string;
  }
}

/**
 * Whether the ledgers of these tests lie on PostgreSQL: what only a file can show is skipped then. A script that runs
 * outside the tests has files.
 */
export const onPostgres: boolean = process.env.VITEST !== undefined && inject('ledgerServer') !== undefined;
