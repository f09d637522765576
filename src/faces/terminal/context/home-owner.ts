import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Config } from '../../../core/settings/settings.ts';
import { Stop } from './result.ts';

/**
 * Stops with 2 where the ledger belongs to another account. Even a command that only reads makes files beside it, and
 * the daemon of the other account could not use them. Without a ledger, the data folder's owner counts for root alone:
 * a group may share a folder.
 */
export function refuseOtherAccount({ dataDir, ledgerFile }: Pick<Config, 'dataDir' | 'ledgerFile'>): void {
  const own = process.geteuid?.();
  const hasFile = existsSync(ledgerFile);
  const place = hasFile ? ledgerFile : dataDir;
  const owner = statSync(place, { throwIfNoEntry: false })?.uid;
  if (own === undefined || owner === undefined || owner === own) return;
  if ((own !== 0 && !hasFile) || isHidden(owner)) return;
  const who = nameOf(owner);
  throw new Stop(
    `${place} belongs to ${who ?? `account ${owner}`}, and this is ${nameOf(own) ?? `account ${own}`}: files that this command makes there would stop serve. Put sudo -u ${who ?? `'#${owner}'`} before the command. Nothing was done`,
  );
}

/** The name of an account of this machine; undefined where only a directory service knows it. */
function nameOf(uid: number): string | undefined {
  const entries = (textOf('/etc/passwd') ?? '').split('\n').map((line) => line.split(':'));
  return entries.find(([, , id]) => id === String(uid))?.[0];
}

/** Whether a container hides the owner: every account that its user namespace does not map has this number. */
function isHidden(uid: number): boolean {
  const map = textOf('/proc/self/uid_map')?.trim().split(/\s+/).join(' ');
  if (map === undefined || map === '0 0 4294967295') return false;
  return uid === Number(textOf('/proc/sys/kernel/overflowuid') ?? '65534');
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
