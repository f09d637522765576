import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ledgerFailureCode } from '../core/storage/failure.ts';
import { checkDatabaseFile, type DatabaseCheckTask, type FileAnswer } from './file-check.ts';

/** The thread that checks one ledger file, answers what it found, and ends. */
async function run(port: MessagePort, task: DatabaseCheckTask): Promise<void> {
  const tell = (answer: FileAnswer): void => port.postMessage(answer);
  try {
    tell({ kind: 'checked', found: await checkDatabaseFile(task) });
  } catch (error) {
    const code = ledgerFailureCode(error);
    if (code === null || !(error instanceof Error)) throw error;
    tell({ kind: 'failed', code, message: error.message });
  }
}

if (parentPort) await run(parentPort, workerData);
