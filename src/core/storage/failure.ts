import { type Forbidden, forbiddenPlace } from '../domain/forbidden.ts';

/**
 * Returns the code of a failure of the ledger's database; null for any other error. After such a failure, the last
 * change may or may not have happened (P12). Codes begin with `SQLITE_` or `POSTGRES_`, so that one test covers both
 * databases.
 */
export function ledgerFailureCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(SQLITE|POSTGRES)_/.test(code) ? code : null;
}

/** The file that made the ledger fail because this account may not use it; null for any other failure. */
export function forbiddenLedgerFile(error: unknown): Forbidden | null {
  if (ledgerFailureCode(error) === null) return null;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const forbidden = forbiddenPlace(cause);
    if (forbidden) return forbidden;
  }
  return null;
}

/** The code of a ledger that somebody put back while it was open (P25). */
export const wentBackCode = 'SQLITE_WENT_BACK';

/** An error from PostgreSQL, or from the connection to it. `code` ends with its SQLSTATE or the socket's error. */
export class PostgresFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = `POSTGRES_${code}`;
  }
}

/**
 * The database is away, or gave up: its server cannot be reached, stops, starts, recovers, is a standby, or has no room;
 * or this process lost its session. Left out is what waiting cannot mend, such as a wrong password or a wrong statement.
 */
const outage =
  /^POSTGRES_(CONNECTION|TIMEOUT|SESSION_LOST|STANDBY|ANSWERS_LOST|COMMIT_UNKNOWN|E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_AGAIN)\w*|08\w{3}|53\w{3}|57P0[1-5]|58\w{3}|25006|55000)$/;

/** True for a failure that ends by itself once the database is there again. Only a new session may go on after it (P12). */
export function isOutage(error: unknown): error is PostgresFailure {
  return error instanceof PostgresFailure && outage.test(error.code);
}

/**
 * True where another session's open transaction blocked this one, which was rolled back. Unlike after other failures,
 * it is certain that nothing happened (P12). A later try may succeed.
 */
export function isLockConflict(error: unknown): error is PostgresFailure {
  return error instanceof PostgresFailure && error.code === 'POSTGRES_HELD';
}

/** True for an error of SQLite that says: the file is damaged. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CORRUPT');
}
