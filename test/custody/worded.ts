import type { Archived } from '../../src/custody/archive/archive-ledger.ts';
import type { MovedLedger } from '../../src/custody/move.ts';
import type { Restored } from '../../src/custody/restore-ledger.ts';
import type { Verification } from '../../src/custody/verify-ledger.ts';
import { custodyText } from '../../src/words/custody-words.ts';
import { checkedText } from '../../src/words/verify-words.ts';

/** What was done; where it was refused, with the reason as people read it. */
export function worded(done: Archived | MovedLedger | Restored) {
  return 'why' in done ? { ...done, why: custodyText(done.why) } : done;
}

/** Every problem that was found, as `check: problem`. */
export function problemTexts({ checks }: Pick<Verification, 'checks'>): string[] {
  return checks.flatMap(({ problems }) => problems.map(checkedText));
}
