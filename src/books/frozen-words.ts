import type { ListStanding } from '../core/domain/verdict.ts';
import type { Discrepancy } from '../core/storage/tables/tables.ts';
import type { Halt } from '../sending/halt.ts';

/**
 * The words of what a run or a month keeps permanently (P30). The books only compute; the face that freezes them says how
 * their rows read.
 */
export type FrozenWords = {
  /** Why a list of this standing does not show a payout. */
  unlisted(list: ListStanding): string;
  /** What a person does about a discrepancy: in full, in short, and the command to begin with. */
  action(one: Discrepancy): string;
  step(one: Discrepancy): string;
  command(one: Discrepancy): string;
  /** Why nothing may be sent. */
  halt(causes: Halt['causes']): string;
};
