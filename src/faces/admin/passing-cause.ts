import { isLockConflict, isOutage } from '../../core/storage/failure.ts';

/** Why a request failed that may be repeated in a moment; null where nobody knows that this helps. */
export function passingCause(error: unknown, isClosing: boolean): { kind: string; problem: string } | null {
  if (isClosing) return { kind: 'closing', problem: 'the server stops' };
  if (isOutage(error)) return { kind: 'ledger_away', problem: "the ledger's database is away" };
  if (isLockConflict(error)) return { kind: 'busy', problem: 'another process keeps the ledger' };
  return null;
}
