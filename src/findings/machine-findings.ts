import type { Config } from '../core/settings/settings.ts';
import { fileBytes, freeBytes } from '../core/storage/free-space.ts';
import { readTlsPair, TlsProblem, validityProblem } from '../watching/webhooks/tls.ts';
import { type Finding, plainFinding } from './finding.ts';

const dayMs = 24 * 3_600_000;

/** How the receiver's certificate stands; null where it has none. It is a finding once its days are few (`isShown`). */
export async function certificateFinding(
  { tlsCert, tlsKey }: Config['receiver'],
  { machine, nowMs }: { machine: string; nowMs: number },
): Promise<Finding<'certificate_ends'> | null> {
  if (tlsCert === '') return null;
  const of = (days: number, facts: Finding<'certificate_ends'>['facts']) => ({
    ...plainFinding('certificate_ends', machine, days),
    measure: days,
    facts,
  });
  try {
    const files = { certFile: tlsCert, keyFile: tlsKey };
    const pair = await readTlsPair(files);
    const fault = validityProblem(pair, files, nowMs);
    const days = fault === null ? Math.floor((pair.validTo - nowMs) / dayMs) : 0;
    const validTo = new Date(pair.validTo).toISOString();
    return of(days, fault === null ? { is: 'valid', file: tlsCert, validTo } : { is: 'invalid', fault });
  } catch (error) {
    if (error instanceof TlsProblem) return of(0, { is: 'unusable', fault: error.message });
    throw error;
  }
}

/** How much space the disk of the data folder has. It is a finding once that is little (`isShown`). Throws disk errors. */
export async function diskFinding(
  { dataDir, ledgerFile }: Pick<Config, 'dataDir' | 'ledgerFile'>,
  machine: string,
): Promise<Finding<'disk_low'>> {
  const free = await freeBytes(dataDir);
  const ledger = await fileBytes(ledgerFile);
  const plain = plainFinding('disk_low', machine, Math.floor(free / 1024 / 1024));
  return { ...plain, measure: free - ledger, facts: { dataDir, free, ledger } };
}
