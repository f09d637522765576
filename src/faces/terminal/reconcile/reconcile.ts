import type { ReconcileResult } from '../../../../jobs/reconcile.ts';
import type { App } from '../../../app/app.ts';
import { hasNoList } from '../../../core/domain/run-error.ts';
import { needsAPerson } from '../../../core/domain/verdict.ts';
import { reconcileVerb } from '../../../verbs/reconcile.ts';
import { haltInWords } from '../../../words/halt-words.ts';
import { hushed, loadSettings } from '../context/context.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, worst } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { problemLines } from '../kit/describe.ts';
import { tellPeople } from '../kit/tell-people.ts';
import { reconcileTrouble, runConclusion, runScreen } from './reconcile-lines.ts';

/** `reconcile`: reconciles once. Exits 4 when something is open, sending is halted, or a currency is not reconciled. */
export const reconcile: Handler = async (context, _args, options) => {
  await loadSettings(context);
  return withApp(hushed(context), { level: 'whole', use: 'makes', kind: 'reconcile' }, async (app) => {
    const order = { full: Boolean(options.full), followUp: options.followUp !== false };
    const done = await reconcileVerb.run({ ...app, signal: context.signal }, order, orderer(context));
    if (done.kind === 'refused') throw stopFor(done);
    await tellPeople(context, app);
    return describe(context, app, done.run);
  });
};

async function describe(context: Context, app: App, run: ReconcileResult): Promise<Result> {
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
    ...(!context.options.quiet && { screen: runScreen(concluded) }),
    json: { shape: 'reconcile', fields: run },
  };
}
