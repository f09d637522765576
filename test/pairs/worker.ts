import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { runPlay } from './play.ts';
import { allPlays } from './plays.ts';

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/counterfoil-pairs', import.meta.url)));
const plays = new Map(allPlays().map((play) => [play.number, play]));
// One thread of a run: the number of a play in, what became of it out.
parentPort?.on('message', ({ number, trace }: { number: number; trace: boolean }) => {
  const play = plays.get(number);
  if (!play) throw new Error(`no play has the number ${number}`);
  runPlay(play, { trace }).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw new Error(`play ${number} (${play.name}) broke the simulation itself`, { cause: error });
    },
  );
});
