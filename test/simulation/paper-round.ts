import { join } from 'node:path';
import * as reconcileJob from '../../jobs/reconcile.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { apart } from './batch-files.ts';
import type { Life } from './life.ts';
import { createPaperVerdict } from './paper-verdict.ts';
import type { Town } from './town.ts';

const day = 24 * 3_600_000;

/**
 * At the end of each day somebody reconciles, and reads what is on paper then. `atLast`, once all troubles are over, it must
 * be the whole truth.
 */
export function createPaperRounds(town: Town): { start(): void; atLast(): void } {
  const { world, weather } = town;
  const verdict = createPaperVerdict(town, join(town.config.dataDir, 'reports'));
  const random = world.random.fork('paper');

  function round(isLast: boolean): void {
    if (town.fall.shut) {
      world.after(60_000, null, () => round(isLast));
      return;
    }
    const { life, options } = town.begin('person');
    const work = async (): Promise<void> => {
      const app = await openApp('whole', { ...options, kind: 'command' });
      const before = verdict.look(life);
      const { run } = await reconcileJob.run(withPaperApart(town, life, app), {
        full: isLast || random.chance(0.5),
        followUp: true,
      });
      verdict.judge({ run, life, before, isLast });
      await app.close();
      life.kill('done');
    };
    work().catch((error: unknown) => town.failed(life, 'reconciling', error));
  }
  const daily = (): void => {
    if (town.calm) return;
    round(false);
    world.after(day, null, daily);
  };
  return {
    start: () => weather.long.readsPaper && world.after(random.between(0.2 * day, day), null, daily),
    atLast: () => weather.long.readsPaper && round(true),
  };
}

/** The same app; what it writes as files it writes while nobody else moves. */
function withPaperApart(town: Town, life: Life, app: App): App {
  const alone =
    <In extends unknown[], Out>(work: (...input: In) => Promise<Out>) =>
    (...input: In): Promise<Out> =>
      apart(town, life, () => work(...input));
  const { intake, reporting } = app;
  return {
    ...app,
    intake: {
      ...intake,
      finishFiles: alone(intake.finishFiles),
      takeCollections: alone(intake.takeCollections),
    },
    reporting: {
      ...reporting,
      freezeRun: alone(reporting.freezeRun),
      writeRun: alone(reporting.writeRun),
      writeDueRuns: alone(reporting.writeDueRuns),
      writeDueBatchResults: alone(reporting.writeDueBatchResults),
      writeIndex: alone(reporting.writeIndex),
    },
  };
}
