import { rmSync } from 'node:fs';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { adoptLedger } from '../../src/custody/adopt.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { at, type TestLedger } from '../support/ledger.ts';

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

/** The ledger is a copy that went back in time, and somebody adopts it; returns it opened again. */
export async function adoptGoneBack(ledger: TestLedger, ms: number): Promise<TestLedger> {
  await ledger.close();
  await adoptAlone(ledger.path, ms);
  const adopted = await openLedger(ledger.path, { now: () => at(ms) });
  const { folder } = ledger;
  const remove = async (): Promise<void> => {
    await adopted.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...adopted, folder, remove };
}
