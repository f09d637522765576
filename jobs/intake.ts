import type { LocalApp } from '../src/app.ts';

export const name = 'intake';

/** Takes in what lies whole in the inbox; first finishes what a crash interrupted. */
export async function run(
  app: LocalApp,
): Promise<{ taken: number; refused: number; waiting: number; batches: string[] }> {
  await app.intake.removeHalfLoaded();
  await app.intake.finishMoves();
  const { taken, waiting } = await app.intake.takeInbox();
  const batches = taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : []));
  return { taken: batches.length, refused: taken.length - batches.length, waiting: waiting.length, batches };
}
