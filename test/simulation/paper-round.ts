import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as reconcileJob from '../../jobs/reconcile.ts';
import { openApp } from '../../src/app/app.ts';
import { readRunPaper } from '../support/paper.ts';
import { createClosedMonths } from './closed-months.ts';
import { createPaperVerdict } from './paper-verdict.ts';
import type { Town } from './town.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Where a process is killed that writes reports, and how far into it at most. */
const cuts = [
  { point: 'after a statement', most: 12 },
  { point: 'before a transaction', most: 1 },
  { point: 'before a commit', most: 1 },
  { point: 'after a commit', most: 1 },
] as const;

/**
 * Now and then, on ordinary days every eight hours, somebody reconciles, and reads what is on paper then. `atLast`, once
 * all troubles are over, it must be the whole truth. `month`: the one that the office may close.
 */
export function createPaperRounds(town: Town, month = '2026-11'): { start(): void; atLast(): void } {
  const { world, weather, inspector } = town;
  const reports = join(town.config.dataDir, 'reports');
  const verdict = createPaperVerdict(town, reports);
  const random = world.random.fork('paper');
  const closed = createClosedMonths(town, month);

  const interrupted = new Set<string>();

  function noteInterrupted(): void {
    for (const { id } of inspector.rows<{ id: string }>('select id from runs where reports_due = 1')) {
      if (!interrupted.has(id)) world.coverage.count('paper: promised and interrupted');
      interrupted.add(id);
    }
  }

  /** P34: each run whose summary names its reports has them in the end, although its process was killed. */
  function judgeInterrupted(): void {
    const promised = inspector.rows<{ id: string; reports_due: number }>(
      "select id, reports_due from runs where json_array_length(summary, '$.reports') > 0",
    );
    for (const { id, reports_due } of promised) {
      if (reports_due === 1 || !existsSync(join(reports, `reconciliation-${id}`, 'summary.json')))
        world.violate(
          'P34: what is promised beside the ledger is done',
          `the reports of run ${id} are missing`,
        );
      else if (interrupted.has(id)) {
        readRunPaper(reports, id);
        world.coverage.count('paper: written after an interruption');
      }
    }
  }

  function round(isLast: boolean): void {
    if (town.fall.shut) {
      world.after(60_000, null, () => round(isLast));
      return;
    }
    const { life, options } = town.begin('person');
    // What such a round says of a list that it could not read must be judged: it is not cut short too.
    const sees = isLast || random.chance(0.5);
    if (!sees) town.awayUntil = world.now() + random.between(1, 20) * minute;
    const work = async (): Promise<void> => {
      const app = await openApp('whole', { ...options, kind: 'command' });
      if (weather.long.closes && random.chance(0.8)) await closed.close(app);
      const before = verdict.look(life);
      const { writeDueRuns } = app.reporting;
      const cutShort = (): ReturnType<typeof writeDueRuns> => {
        const { point, most } = random.pick<(typeof cuts)[number]>(cuts);
        if (!isLast && sees && random.chance(0.85)) life.strike(point, random.between(1, most));
        return writeDueRuns();
      };
      const reporting = { ...app.reporting, writeDueRuns: cutShort };
      const { run, passes } = await reconcileJob.run(
        { ...app, reporting },
        {
          full: isLast || random.chance(0.5),
          followUp: true,
        },
      );
      if (passes > 2) world.coverage.count('machine: page shift');
      closed.judge();
      verdict.judge({ run, life, before, isLast, closed: closed.netPaid() });
      if (isLast) judgeInterrupted();
      await app.close();
      life.kill('done');
    };
    void life.died.then(noteInterrupted);
    work().catch((error: unknown) => town.failed(life, 'reconciling', error));
  }
  const daily = (): void => {
    if (town.calm) return;
    round(false);
    world.after(weather.long.ordersWait ? day : day / (weather.long.closes ? 6 : 3), null, daily);
  };
  return {
    start: () => weather.long.readsPaper && world.after(random.between(0.05 * day, day / 3), null, daily),
    atLast: () => weather.long.readsPaper && round(true),
  };
}
