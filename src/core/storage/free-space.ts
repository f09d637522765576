import { existsSync, statfsSync, statSync } from 'node:fs';

/** Free space that a large intake's journal and the reports need. */
const spareBytes = 256 * 1024 * 1024;

/** Bytes on the disk of the data folder. `isShort`: too few for a backup of the ledger, the journal and the reports. */
export type Space = { free: number; ledger: number; isShort: boolean };

/** Measures the disk of the data folder. Throws disk errors. */
export function measureSpace({ dataDir, ledgerFile }: { dataDir: string; ledgerFile: string }): Space {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const ledger = [ledgerFile, `${ledgerFile}-wal`].reduce(
    (sum, file) => sum + (existsSync(file) ? statSync(file).size : 0),
    0,
  );
  return { free, ledger, isShort: free < ledger + spareBytes };
}
