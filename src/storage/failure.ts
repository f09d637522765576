/**
 * The ledger's database failed, or may have: what it was asked may or may not have happened (P12). Codes begin with
 * `SQLITE_` or `POSTGRES_`, so that whoever stops for one stops for the other.
 */
export function ledgerFailureCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(SQLITE|POSTGRES)_/.test(code) ? code : null;
}

/** What PostgreSQL, or the way to it, answered instead of a result. `code` ends with its SQLSTATE or the socket's error. */
export class PostgresFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = `POSTGRES_${code}`;
  }
}

/**
 * Somebody else's open transaction was in the way, and this one was rolled back: unlike after other failures, it is
 * certain that nothing happened (P12), and a later try may succeed.
 */
export function isHeld(error: unknown): error is PostgresFailure {
  return error instanceof PostgresFailure && error.code === 'POSTGRES_HELD';
}
