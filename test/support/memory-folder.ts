import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
/** All tests together were seen to take a quarter of it. */
const roomNeeded = 1 << 30;

/** A folder in memory where there is one with room, else the usual one: thousands of ledgers are made and thrown away. */
export function memoryFolder(): string {
  try {
    accessSync(inMemory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= roomNeeded ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A folder in it that goes with this process; a server that runs as somebody else reaches its own folder inside. */
export function folderOfThisRun(): string {
  const folder = mkdtempSync(join(memoryFolder(), 'counterfoil-run-'));
  chmodSync(folder, 0o711);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
