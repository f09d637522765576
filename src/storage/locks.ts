import { holdLock } from './file-lock.ts';
import type { Ledger } from './ledger.ts';

/** A lock that goes when its process dies, however it dies. */
export type Lock = { release(): void | Promise<void> };

/**
 * Takes a lock that one process over all of a ledger has, or answers null when another has it. Where machines share the
 * ledger they share the lock; for a ledger in a file it is the file at `path`.
 */
export async function holdLedgerLock(
  { session }: Pick<Ledger, 'session'>,
  name: string,
  path: string,
): Promise<Lock | null> {
  return session ? session.hold(name) : holdLock(path);
}
