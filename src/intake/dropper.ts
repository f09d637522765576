import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { OsUser } from '../sending/approval.ts';
import { unreadableCode } from './unreadable.ts';

/**
 * The person who hands in a batch. `as`: the account under which the command ran, where the person used sudo.
 */
export type Dropper = OsUser & { as: OsUser | null };

/**
 * How a file came: `inbox`; `named` by a command, `behind` sudo or not; `posted` by the holder of a token, who is no
 * account of this machine.
 */
export type HandedIn =
  | { origin: 'inbox'; behind?: null }
  | { origin: 'named'; behind?: OsUser | null }
  | { origin: 'posted'; behind: OsUser };

/**
 * Returns the person who hands in a file. For a named file that is the person who runs the command, or the
 * person behind sudo. For a file in the inbox it is the owner of the file; null where the file is gone, as when another
 * process took it after this one had lost the intake lock.
 */
export async function dropperOf(path: string, { origin, behind = null }: HandedIn): Promise<Dropper | null> {
  if (origin === 'posted' && behind) return { ...behind, as: null };
  const own = process.getuid?.() ?? null;
  const uid = origin === 'named' || own === null ? own : await ownerOf(path);
  if (uid === 'gone') return null;
  const account: OsUser = { name: (await nameOf(uid, own)) ?? `uid-${uid ?? 'unknown'}`, uid };
  const hidden = origin === 'named' && behind !== null && behind.uid !== own;
  return hidden ? { ...behind, as: account } : { ...account, as: null };
}

async function ownerOf(path: string): Promise<number | 'gone'> {
  try {
    return (await stat(path)).uid;
  } catch (error) {
    if (unreadableCode(error)) return 'gone';
    throw error;
  }
}

async function nameOf(uid: number | null, own: number | null): Promise<string | undefined> {
  if (uid === own) {
    try {
      return userInfo().username;
    } catch {
      // An account without a user entry, as in containers.
      return undefined;
    }
  }
  const known = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return known
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(uid))?.[0];
}
