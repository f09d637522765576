import * as reconcileJob from '../../../../jobs/reconcile.ts';
import type { App } from '../../../app/app.ts';
import { hasNoList } from '../../../core/domain/run-error.ts';
import { needsAPerson } from '../../../core/domain/verdict.ts';
import { tryReconcile } from '../../../core/runtime/worker-lock.ts';
import { haltInWords } from '../../../words/halt-words.ts';
import { hushed, loadSettings } from '../context/context.ts';
import { type Result, Stop, worst } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { problemLines } from '../kit/describe.ts';
import { tellPeople } from '../kit/tell-people.ts';
import { reconcileTrouble, runConclusion, runLines } from './reconcile-lines.ts';

/** `reconcile`: reconciles once. Exits 4 when something is open, sending is halted, or a currency is not reconciled. */
export const reconcile: Handler = async (context, _args, options) => {
  await loadSettings(context);
  return withApp(hushed(context), { level: 'whole', use: 'makes', kind: 'reconcile' }, async (app) => {
    const lock = await tryReconcile(app.ledger);
    if (!lock)
      throw new Stop(
        'another process is reconciling this ledger; wait for it, then run the command again',
        11,
      );
    try {
      const payload = {
        full: Boolean(options.full),
        followUp: options.followUp !== false,
        signal: context.signal,
      };
      const run = await reconcileJob.runByHand(app, payload);
      await tellPeople(context, app);
      return await describe(context, app, run);
    } finally {
      await lock.release();
    }
  });
};

async function describe(context: Context, app: App, run: reconcileJob.ReconcileResult): Promise<Result> {
  const halted = await haltInWords(app.ledger.db);
  const concluded = await runConclusion(context, app, run, halted);
  const open = Object.keys(run.discrepancies.open).length > 0;
  const unlisted = hasNoList(run);
  const partly = (run.taken ?? []).some(({ skipped }) => skipped > 0);
  const loose = needsAPerson(run.verdict);
  if (context.options.quiet) for (const line of reconcileTrouble(concluded)) context.say(line);
  const refused = run.refused ?? [];
  for (const { file, problems, problem_count: count, error } of refused) {
    context.say(`refused  ${file}: no collection in it is expected`);
    for (const line of problemLines(problems, count)) context.say(line);
    if (error !== undefined) context.say(`  ${error}`);
  }
  const unkept = refused.some(({ error }) => error !== undefined);
  const { error } = run;
  return {
    code: worst(
      unlisted || unkept ? 1 : 0,
      refused.length > 0 || partly ? 3 : 0,
      open || halted || loose ? 4 : 0,
    ),
    ...(unlisted && error !== undefined && { problem: error }),
    lines: context.options.quiet ? [] : runLines(concluded),
    json: { shape: 'reconcile', fields: run },
  };
}
