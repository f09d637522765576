import type { PayoutState } from '../domain/payout.ts';
import type { Story } from '../reporting/overview.sql.ts';
import { payoutMoments } from '../reporting/payout-moments.ts';
import { readable } from '../reporting/readable.ts';
import { stateWords } from '../reporting/state-words.ts';
import { payoutColours } from './terminal/colours.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What happened to a payout, the oldest first: each fact once, with its source. */
export function timelineLines(story: Story, terminal: Terminal): string[] {
  const painted = (state: PayoutState): string => terminal.paint(payoutColours[state], stateWords[state]);
  const moments = payoutMoments(story, painted);
  const width = Math.max(...moments.map(({ at }) => terminal.timeWithSeconds(at).length), 0);
  return moments.map(
    ({ at, text }) => `  ${terminal.timeWithSeconds(at).padEnd(width)}   ${readable(text, terminal.time)}`,
  );
}
