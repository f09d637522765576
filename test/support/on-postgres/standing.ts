import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server on which every ledger of these tests is a database; absent where ledgers are files. */
    ledgerServer?: string;
  }
}

/** Whether the ledgers of this run lie on PostgreSQL: what only a file can show is skipped then. */
export const onPostgres: boolean = inject('ledgerServer') !== undefined;
