import { changedText, lostText, promisedText } from '../../../words/file-words.ts';
import type { StatusFacts } from '../../json/status-standing.ts';

const shownAtOnce = 10;

/** File work that is promised and not done yet, and files that differ from the promise. */
export function promisedLines({ open, lost, changed, reports }: StatusFacts['promised']): string[] {
  return [
    ...open.slice(0, shownAtOnce).map((task) => `  to do: ${promisedText(task)}`),
    ...more(open.length),
    ...lost.map((task) => `  lost: ${lostText(task)}`),
    ...changed.map((one) => `  changed: ${changedText(one)}`),
    ...(reports.length === 0
      ? []
      : [
          `  Reports due: ${reports.slice(0, shownAtOnce).join(', ')}: counterfoil report, or serve, writes them`,
        ]),
  ];
}

function more(count: number): string[] {
  return count > shownAtOnce ? [`  to do: and ${count - shownAtOnce} files more`] : [];
}
