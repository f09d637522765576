import { join } from 'node:path';
import type { Config } from '../../../core/settings/settings.ts';
import { placeName } from '../../../core/storage/place.ts';
import { Stop } from './result.ts';

/** Runs a command that needs the ledger for itself. Stops with 11 beside another process. */
export async function alone<T>(config: Config, command: string, work: () => Promise<T>): Promise<T> {
  const { shutGate } = await import('../../../custody/custody-gate.ts');
  const gate = await shutGate(config.ledgerPlace);
  if (!gate) throw new Stop(await whoIsThere(config, command), 11);
  try {
    return await work();
  } finally {
    await gate.release();
  }
}

/** Which process uses the ledger, as far as it can be seen. */
export async function whoIsThere(config: Config, command: string): Promise<string> {
  const { isLockFree } = await import('../../../core/storage/file-lock.ts');
  const { reconcileLockOf } = await import('../../../core/runtime/worker-lock.ts');
  const locks = {
    serve: join(config.dataDir, 'locks', 'serve.lock'),
    reconcile: reconcileLockOf(config.ledgerPlace.path),
  };
  // While serve runs, the reconciliation is most likely its own.
  const [running] = Object.entries(locks).find(([, path]) => !isLockFree(path)) ?? [];
  const who = running === undefined ? 'another process works' : `counterfoil ${running} runs`;
  return `${who} on ${placeName(config.ledgerPlace)}: stop it, then run ${command} again`;
}
