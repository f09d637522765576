import type { Ledger } from '../ledger/open.ts';
import { abandonClaims } from '../ledger/sending/claims.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * Takes over what dead processes left `sending`: each becomes `unknown`, never `ready` (P3). Returns how many payouts.
 * `workers` tells who is dead: a process whose own lock is free.
 */
export async function takeOver(deps: {
  ledger: Ledger;
  clock: Clock;
  workers: { dead(): Promise<string[]>; markEnded(id: string): Promise<void> };
}): Promise<number> {
  let stranded = 0;
  for (const id of await deps.workers.dead()) {
    stranded += await deps.ledger.write((trx) => abandonClaims(trx, id, deps.clock.iso()));
    await deps.workers.markEnded(id);
  }
  return stranded;
}
