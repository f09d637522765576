import type { Clock } from '../core/runtime/clock.ts';
import { within } from '../core/runtime/queue-session.ts';
import type { Config } from '../core/settings/settings.ts';
import { forbiddenLedgerFile } from '../core/storage/failure.ts';
import { fileBytes, freeBytes } from '../core/storage/free-space.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { readTlsPair, TlsProblem, validityProblem } from '../watching/webhooks/tls.ts';
import { type Finding, plainFinding } from './finding.ts';
import { probeLedger } from './ledger-findings.sql.ts';

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

/**
 * How much space the disk of the data folder has, as `disk_low` and `disk_full` measure it: they are findings once that is
 * little (`isShown`).
 */
export async function diskFindings(
  { dataDir, ledgerFile }: Pick<Config, 'dataDir' | 'ledgerFile'>,
  machine: string,
): Promise<Finding<'disk_low' | 'disk_full' | 'disk_unseen'>[]> {
  try {
    const free = await freeBytes(dataDir);
    const ledger = await fileBytes(ledgerFile);
    const plain = plainFinding('disk_low', machine, Math.floor(free / 1024 / 1024));
    return [
      { ...plain, measure: free - ledger, facts: { dataDir, free, ledger } },
      { ...plainFinding('disk_full'), measure: free, facts: { free } },
    ];
  } catch (error) {
    return [{ ...plainFinding('disk_unseen'), facts: { why: messageOf(error) } }];
  }
}

/** A queue whose jobs must move: `probe` resolves once a job was taken and given. */
export type ProbedQueue = { name: string; probe(): Promise<{ kind: 'moves' | 'paused' }> };

/** How long a probe may take before it counts as failed. */
const patienceMs = 5000;

/** The queues that keep their jobs. */
export async function queueFindings(
  clock: Clock,
  queues: readonly ProbedQueue[],
): Promise<Finding<'queue_stuck'>[]> {
  const found = queues.map(async ({ name, probe }): Promise<Finding<'queue_stuck'>[]> => {
    const stuck = (why: string | null) => [{ ...plainFinding('queue_stuck', name), facts: { why } }];
    try {
      const { kind } = await within(clock, patienceMs, probe());
      return kind === 'moves' ? [] : stuck(null);
    } catch (error) {
      return stuck(messageOf(error));
    }
  });
  return (await Promise.all(found)).flat();
}

/** That the ledger cannot be written: `probe` writes to it. */
export async function unwritable(
  clock: Clock,
  probe: () => Promise<void>,
): Promise<Finding<'ledger_unwritable'>[]> {
  try {
    await within(clock, patienceMs, probe());
    return [];
  } catch (error) {
    const facts = { why: messageOf(error), forbidden: forbiddenLedgerFile(error)?.place ?? null };
    return [{ ...plainFinding('ledger_unwritable'), facts }];
  }
}

/** Writes to the ledger for real. A write that waits for a lock goes on after its time: the next probe waits for the same one. */
export function createLedgerProbe(ledger: Pick<Ledger, 'write'>): () => Promise<void> {
  let writing: Promise<void> | undefined;
  return () => {
    writing ??= probeLedger(ledger).finally(() => {
      writing = undefined;
    });
    return writing;
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
