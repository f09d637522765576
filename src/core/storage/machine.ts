import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncFolder } from './sync-folder.ts';

const filePath = (ledgerPath: string): string => `${ledgerPath}.machine`;

/** The connection setting that tells the database which machine a connection comes from. */
export const machineSetting = 'counterfoil.machine';

/**
 * Identifies this machine among those that share a ledger on PostgreSQL. The name is in a file of the data folder,
 * because host names change. Empty for a ledger in a file, which one machine has. Throws disk errors.
 */
export function machineOf(ledgerPath: string): string {
  try {
    return /^[0-9a-f-]{36}$/.exec(readFileSync(filePath(ledgerPath), 'utf8').trim())?.[0] ?? '';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Names this machine once. If two processes do so together, the first name stays. */
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
