import type { App } from '../src/app/app.ts';
import { counted } from '../src/core/domain/counted.ts';
import { givenBackText, leftOutCollectionsText, leftOutText } from '../src/core/domain/left-out.ts';
import type { TakenCollections } from '../src/intake/collection-files.ts';
import type { Ignored } from '../src/intake/inbox.ts';
import type { TakenFile } from '../src/intake/take.ts';

export const name = 'intake';

export type OnRefused = (file: string, why: string) => void;
type IntakePayload = {
  signal?: AbortSignal;
  onIgnored?: (ignored: Ignored[]) => void;
  onRefused?: OnRefused;
};

/**
 * Takes in the whole files of the inbox, payouts and expected collections, after finishing what a crash
 * interrupted. `onIgnored` receives the files that stay in the inbox. `onRefused` receives each file that was
 * refused, whole or in some rows, and why.
 */
export async function run(
  app: App<'local'>,
  { signal, onIgnored, onRefused }: IntakePayload = {},
): Promise<{
  taken: number;
  refused: number;
  waiting: number;
  batches: string[];
  /** The number of files of expected collections that were taken. */
  collections: number;
}> {
  const startedAt = app.clock.now();
  const until = signal ? { signal } : {};
  const { taken, waiting, ignored, givenBack } = await app.intake.takeInbox(until);
  for (const back of givenBack) onRefused?.(back.owner, givenBackText(back));
  const expected = await app.intake.takeCollections(until);
  onIgnored?.([...ignored, ...expected.ignored]);
  for (const one of [...taken, ...expected.taken]) tellRefused(one, onRefused);
  const batches = taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : []));
  for (const batch of batches) {
    const about = { kind: 'batch' as const, name: batch };
    app.traces.begin({ name: 'batch intake', about, startedAt, fields: { batch } }).end();
  }
  const collections = expected.taken.filter((t) => t.kind === 'taken').length;
  return {
    taken: batches.length,
    refused: taken.length - batches.length + expected.taken.length - collections,
    waiting: waiting.length + expected.waiting.length,
    batches,
    collections,
  };
}

/** Reports a file that was refused, whole or in some rows, in words for a log. */
export function tellRefused(one: TakenFile | TakenCollections, onRefused: OnRefused | undefined): void {
  if (one.kind === 'refused') {
    const [first] = one.problems;
    const where = one.errorsFile === null ? '' : `, see ${one.errorsFile}`;
    // A row's problem quotes its value, and a log must not hold account numbers.
    const what = first?.row === 0 ? `: ${first.problem}` : '';
    const unkept = one.unkept === undefined ? '' : `; ${one.unkept}`;
    onRefused?.(one.file, `refused, ${counted(one.problemCount, 'problem')}${where}${what}${unkept}`);
  }
  if (one.kind === 'taken' && one.skipped) {
    const text = 'batch' in one ? leftOutText : leftOutCollectionsText;
    onRefused?.(one.file, text(one.skipped));
  }
}
