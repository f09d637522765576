import { join } from 'node:path';
import type { z } from 'zod';
import type { App } from '../../../app/app.ts';
import { likely } from '../../../core/domain/nearest.ts';
import { reportVerb } from '../../../verbs/report.ts';
import { newestRuns } from '../../web/dashboard/runs.sql.ts';
import { findNamedBatch, nearestBatch } from '../context/named-batch.ts';
import { orderer, stopFor } from '../context/person.ts';
import { didYouMean, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { fileLines } from '../kit/file-lines.ts';
import { compareRuns } from './compare.ts';

/** `report [RUN|MONTH|BATCH]`: writes reports again. A run or closed month gives the same bytes, a batch its present state. */
export const report: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const [name] = args;
    const { against } = options;
    if (typeof against === 'string') {
      if (name === undefined) throw new Stop('name the run to compare: counterfoil report RUN --against RUN');
      return compareRuns(context, app, [name, against]);
    }
    const files = await written(context, app, name);
    return {
      isNews: true,
      code: 0,
      lines: fileLines(context, files),
      json: { shape: 'report', fields: { files } },
    };
  });
};

/** The month named by `YYYY-MM`, or by the folder of a closed month. */
function monthNamed(name: string): string | null {
  return /^(?:period-)?(\d{4}-\d\d)$/.exec(name)?.[1] ?? null;
}

/** Further back than this, nobody misspells a run. */
const mostRuns = 1000;

async function nearestRun({ ledger }: App<'local'>, name: string): Promise<string | undefined> {
  const runs = await newestRuns(ledger.db, mostRuns, 0);
  return likely(
    name,
    runs.map(({ id }) => id),
  );
}

async function written(context: Context, app: App<'local'>, name: string | undefined): Promise<string[]> {
  const order = name === undefined ? { due: true as const } : await orderNamed(app, name);
  const done = await reportVerb.run(app, order, orderer(context));
  if (done.kind === 'refused') {
    const stop = stopFor(done);
    if (done.why.kind !== 'no_run') throw stop;
    const meant = didYouMean(await nearestRun(app, done.why.run), ': counterfoil status names the last one');
    throw new Stop(`${stop.message}${meant}`);
  }
  for (const line of done.skipped) context.say(line);
  return done.files;
}

/** What a name means: a run, a month, or a batch. */
async function orderNamed(app: App<'local'>, name: string): Promise<z.infer<typeof reportVerb.input>> {
  if (/^\d{8}T\d{6}Z(-\d+)?$/.test(name)) return { run: name };
  const month = monthNamed(name);
  if (month !== null) return { month };
  const batch = await findNamedBatch(app, name);
  if (batch) return { batch: batch.id };
  const index = join(app.paths.reports, 'index.html');
  const meant = (await nearestBatch(app, name)) ?? (await nearestRun(app, name));
  throw new Stop(`no run or batch "${name}" in this ledger${didYouMean(meant, `: ${index} lists them`)}`);
}
