import { holdLock } from './file-lock.ts';
import type { Ledger } from './ledger.ts';

/** A lock that is freed when its process dies, in whatever way. */
export type Lock = { release(): void | Promise<void> };

/**
 * Takes an exclusive lock of the ledger; null when another process has it. Machines that share a ledger share its
 * locks. For a ledger in a file, the lock is the file at `path`.
 */
export async function holdLedgerLock(
  { session }: Pick<Ledger, 'session'>,
  name: string,
  path: string,
): Promise<Lock | null> {
  return session ? session.hold(name) : holdLock(path);
}
