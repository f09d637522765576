import { stat, statfs } from 'node:fs/promises';

/** Bytes that this account may still write beside the data folder. Throws disk errors. */
export async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

/** The bytes of a ledger's file with its journal; 0 without one. */
export async function fileBytes(ledgerFile: string): Promise<number> {
  const sizes = [ledgerFile, `${ledgerFile}-wal`].map((file) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
