import { userInfo } from 'node:os';

/** Who is deciding: the account this process runs as, for the history's `person:NAME`. */
export function person(): string {
  try {
    return userInfo().username;
  } catch {
    // An account without an entry, as in containers.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
