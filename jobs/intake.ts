import type { LocalApp } from '../src/app.ts';
import type { Ignored } from '../src/intake/check.ts';

export const name = 'intake';

/**
 * Takes in what lies whole in the inbox, payouts and expected collections; first finishes what a crash interrupted.
 * `onIgnored` hears what is left where it lies.
 */
export async function run(
  app: LocalApp,
  { signal, onIgnored }: { signal?: AbortSignal; onIgnored?: (ignored: Ignored[]) => void } = {},
): Promise<{
  taken: number;
  refused: number;
  waiting: number;
  batches: string[];
  /** Files of expected collections that were taken. */
  collections: number;
}> {
  await app.intake.removeHalfLoaded();
  await app.intake.finishMoves();
  const { taken, waiting, ignored } = await app.intake.takeInbox(signal ? { signal } : {});
  const expected = await app.intake.takeCollections();
  onIgnored?.([...ignored, ...expected.ignored]);
  const batches = taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : []));
  const collections = expected.taken.filter((t) => t.kind === 'taken').length;
  return {
    taken: batches.length,
    refused: taken.length - batches.length + expected.taken.length - collections,
    waiting: waiting.length + expected.waiting.length,
    batches,
    collections,
  };
}
