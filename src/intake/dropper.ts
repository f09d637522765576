import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { OsUser } from '../sending/approval.ts';
import type { ReadFile } from './read.ts';

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
 * person behind sudo. For a file in the inbox it is the owner of the `file` whose bytes were read; null where none was.
 */
export async function dropperOf(
  file: Pick<ReadFile, 'uid'> | null,
  { origin, behind = null }: HandedIn,
): Promise<Dropper | null> {
  if (origin === 'posted' && behind) return { ...behind, as: null };
  if (file === null) return null;
  const own = process.getuid?.() ?? null;
  const uid = origin === 'named' || own === null ? own : file.uid;
  const account: OsUser = { name: (await nameOf(uid, own)) ?? `uid-${uid ?? 'unknown'}`, uid };
  const hidden = origin === 'named' && behind !== null && behind.uid !== own;
  return hidden ? { ...behind, as: account } : { ...account, as: null };
}

/** True where others than the owner may write a file, so that its owner need not be who wrote its bytes. */
export function othersMayWrite({ mode }: Pick<ReadFile, 'mode'>): boolean {
  // Where accounts have no numbers, the bits say nothing of who may write.
  return process.getuid !== undefined && (mode & 0o022) !== 0;
}

export const ownCopy =
  'drop a copy of your own that only you may write (chmod go-w FILE; umask 027 makes all new files so)';

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
