import { adoptLedger } from '../../src/ledger/adopt.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import { at } from '../support/ledger.ts';

/** Opens as a command that must be alone on the ledger does. */
function openAlone(path: string): Promise<Ledger> {
  return openLedger(path, { now: () => at(0), alone: 'owner' });
}

/** Adopts as a command alone on the ledger does, and closes; returns how many became unknown. */
export async function adoptAlone(
  path: string,
  when: number,
  onProgress?: (n: number) => void,
): Promise<number> {
  const alone = await openAlone(path);
  try {
    return (await adoptLedger(alone, () => at(when), onProgress)).unknown;
  } finally {
    await alone.close();
  }
}
