import type { Clock } from '../core/runtime/clock.ts';
import { isLockConflict } from '../core/storage/failure.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { abandonClaims } from './claims.sql.ts';

/**
 * Takes over what dead processes left `sending`: each becomes `unknown`, never `ready` (P3). Returns how many payouts.
 * `workers` says which are dead: those whose own lock is free. What another open transaction has locked is left for the
 * next call, and `onHeld` is called: else no process could start to work or to receive webhooks before that ends.
 */
export async function takeOver(deps: {
  ledger: Ledger;
  clock: Clock;
  workers: { dead(): Promise<string[]>; markEnded(id: string): Promise<void> };
  onHeld?(error: unknown): void;
}): Promise<number> {
  let stranded = 0;
  for (const id of await deps.workers.dead()) {
    try {
      stranded += await deps.ledger.write((trx) => abandonClaims(trx, id, deps.clock.iso()));
      await deps.workers.markEnded(id);
    } catch (error) {
      if (!isLockConflict(error)) throw error;
      deps.onHeld?.(error);
    }
  }
  return stranded;
}
