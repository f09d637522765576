import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncFolder } from './sync-folder.ts';

const filePath = (ledgerPath: string): string => `${ledgerPath}.machine`;

/** The setting by which the database's connections know whose they are. */
export const machineSetting = 'counterfoil.machine';

/**
 * Which of the machines that share a ledger on PostgreSQL this one is: a name in a file of its data folder, since names of
 * hosts change. Empty for a ledger in a file, which one machine has. Throws what the disk throws.
 */
export function machineOf(ledgerPath: string): string {
  try {
    return /^[0-9a-f-]{36}$/.exec(readFileSync(filePath(ledgerPath), 'utf8').trim())?.[0] ?? '';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Gives this machine its name, once; of two processes the first one's stays. */
export function nameMachine(ledgerPath: string): string {
  const known = machineOf(ledgerPath);
  if (known !== '') return known;
  const own = `${filePath(ledgerPath)}.${process.pid}`;
  const file = openSync(own, 'w', 0o600);
  try {
    writeFileSync(file, `${randomUUID()}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(own, filePath(ledgerPath));
    syncFolder(ledgerPath);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(own, { force: true });
  }
  return machineOf(ledgerPath);
}
