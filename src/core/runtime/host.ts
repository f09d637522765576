import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Ledger } from '../storage/ledger.ts';
import { machineOf } from '../storage/machine.ts';
import { isSharedLedger } from '../storage/place.ts';

/**
 * One data folder on one machine, among those that share a ledger. `id` stays when the machine gets another name; `name`
 * is for people. Both are empty where the ledger lies in its data folder, so that there is one host only.
 */
export type Host = { id: string; name: string };

export const onlyHost: Host = { id: '', name: '' };

/** The host of a data folder. Throws disk errors. */
export function hostOf({ place, path }: Pick<Ledger, 'place' | 'path'>, dataDir: string): Host {
  const folder = resolve(dataDir);
  const id = isSharedLedger(place) ? machineOf(path) : dirname(path) === folder ? '' : folder;
  return id === '' ? onlyHost : { id, name: `${hostname()}:${folder}` };
}
