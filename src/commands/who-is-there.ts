import { join } from 'node:path';
import type { Config } from '../settings/settings.ts';
import { nameOf } from '../storage/place.ts';

/** Which process uses the ledger, as far as it can be seen. */
export async function whoIsThere(config: Config, command: string): Promise<string> {
  const { isLockFree } = await import('../storage/file-lock.ts');
  const { reconcileLockOf } = await import('../runtime/worker-lock.ts');
  const locks = {
    serve: join(config.dataDir, 'locks', 'serve.lock'),
    reconcile: reconcileLockOf(config.ledgerPlace.path),
  };
  // While serve runs, the reconciliation is most likely its own.
  const [running] = Object.entries(locks).find(([, path]) => !isLockFree(path)) ?? [];
  const who = running === undefined ? 'another process works' : `counterfoil ${running} runs`;
  return `${who} on ${nameOf(config.ledgerPlace)}: stop it, then run ${command} again`;
}
