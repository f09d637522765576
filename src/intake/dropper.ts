import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { Account } from '../sending/approval.ts';

/** Who drops a batch; `as`: the account that the command ran under, where they stood behind sudo. */
export type Dropper = Account & { as: Account | null };

/**
 * Who drops a batch: who runs the command that names it, or stands behind sudo there, and for one from the inbox the
 * account that owns the file.
 */
export async function dropperOf(
  path: string,
  { origin, behind = null }: { origin: 'inbox' | 'named'; behind?: Account | null },
): Promise<Dropper> {
  const own = process.getuid?.() ?? null;
  const uid = origin === 'named' || own === null ? own : (await stat(path)).uid;
  const account: Account = { name: (await nameOf(uid, own)) ?? `uid-${uid ?? 'unknown'}`, uid };
  const hidden = origin === 'named' && behind !== null && behind.uid !== own;
  return hidden ? { ...behind, as: account } : { ...account, as: null };
}

async function nameOf(uid: number | null, own: number | null): Promise<string | undefined> {
  if (uid === own) {
    try {
      return userInfo().username;
    } catch {
      // An account without an entry, as in containers.
      return undefined;
    }
  }
  const known = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return known
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(uid))?.[0];
}
