import { existsSync, statfsSync, statSync } from 'node:fs';

/** Bytes that are free on the disk of the data folder, and those of the ledger. */
export type Space = { free: number; ledger: number };

/** Measures the disk of the data folder. Throws disk errors. */
export function measureSpace({ dataDir, ledgerFile }: { dataDir: string; ledgerFile: string }): Space {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const ledger = [ledgerFile, `${ledgerFile}-wal`].reduce(
    (sum, file) => sum + (existsSync(file) ? statSync(file).size : 0),
    0,
  );
  return { free, ledger };
}
