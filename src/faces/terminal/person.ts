import { userInfo } from 'node:os';

/** The person who decides: the account of this process, for the history's `person:NAME`. */
export function person(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no entry, as in containers.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
