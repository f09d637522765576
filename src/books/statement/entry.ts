import type { FrozenWords } from '../frozen-words.ts';
import type { StatementScope } from '../statement-facts.sql.ts';
import type { StatementLine } from './statement-lines.ts';

/** One thing that a line of the statement counts; `amount` in minor units, signed as it enters the line. */
export type StatementEntry = {
  currency: string;
  line: StatementLine;
  count: bigint;
  amount: bigint;
  reference: string;
  batch: string;
  transferId: string;
  why: string;
  /** Paid here, and failed on the list. */
  overturned?: boolean;
  /** It was settled and no longer is: this reduces net paid. */
  unpaid?: boolean;
};

/** What a statement looks at, how an instant is shown, and the words of what no list shows. */
export type About = StatementScope & { show(instant: string): string; words: Pick<FrozenWords, 'unlisted'> };
