import { userInfo } from 'node:os';
import { behindSudo } from '../../../sending/approval.ts';
import type { Obstacle } from '../../../verbs/obstacles.ts';
import type { Person } from '../../../verbs/verb.ts';
import { obstacleWords } from '../../../words/results/obstacle-words.ts';
import { Stop } from './result.ts';
import type { Context } from './world.ts';

/** The person who decides: the account of this process, for the history's `person:NAME`. */
export function person(): string {
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

/** Stops a command whose verb did nothing; 1 where the ledger itself is at fault. */
export function stopFor({ why }: { why: Obstacle }): Stop {
  return new Stop(obstacleWords(why).command, why.kind === 'unsound' ? 1 : 2);
}
