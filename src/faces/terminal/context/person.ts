import { userInfo } from 'node:os';
import { behindSudo } from '../../../sending/approval.ts';
import type { Obstacle } from '../../../verbs/obstacles.ts';
import type { Person } from '../../../verbs/verb.ts';
import { obstacleWords } from '../../../words/results/obstacle-words.ts';
import { Stop } from './result.ts';
import type { Context } from './world.ts';

/** The person who decides: the account of this process, for the history's `person:NAME`. */
function person(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no entry, as in containers.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The person who runs a command, with all their accounts: sudo does not make them a second person. */
export function orderer({ env }: Context): Person {
  const name = person();
  const behind = behindSudo(env);
  const own = { name, uid: process.getuid?.() ?? null };
  return { name, accounts: behind ? [own, behind] : [own], noted: '' };
}

/** Where a stop has another code than 2: the ledger itself is at fault, or another process is at it. */
const stopCodes: Partial<Record<Obstacle['kind'], number>> = { unsound: 1, reconciling: 11 };

/** Stops a command whose verb did nothing. */
export function stopFor({ why }: { why: Obstacle }): Stop {
  return new Stop(obstacleWords(why).command, stopCodes[why.kind] ?? 2);
}
