import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { BackupAnswer, BackupTask } from './daily-backup.ts';
import { backupLedger } from './make-backup.ts';

/** The thread that makes one backup, answers what became of it, and ends. */
async function run(port: MessagePort, { path, file, at }: BackupTask): Promise<void> {
  const tell = (answer: BackupAnswer): void => port.postMessage(answer);
  try {
    tell({ kind: 'done', made: await backupLedger({ path }, file, at) });
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

if (parentPort) await run(parentPort, workerData);
