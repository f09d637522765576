import * as reconcileJob from '../../jobs/reconcile.ts';
import { counted } from '../domain/counted.ts';
import { hasNoList, runError } from '../domain/run-error.ts';
import { isUsable } from '../domain/verdict.ts';
import { tryReconcile } from '../runtime/worker-lock.ts';
import { findHalt, type Halt } from '../sending/halts.sql.ts';
import type { Config } from '../settings/settings.ts';
import { hushed, loadSettings } from './context.ts';
import { collectionLines, countsText, haltText, problemLines } from './describe.ts';
import { type Result, Stop, worst } from './result.ts';
import { currencyText, verdictWords } from './verdict-text.ts';
import { withApp } from './with-app.ts';
import type { Context, Handler } from './world.ts';

/** `reconcile`: reconciles once. Exits 4 when something is open, sending is halted, or a currency is not reconciled. */
export const reconcile: Handler = async (context, _args, options) => {
  const config = await loadSettings(context);
  return withApp(hushed(context), { level: 'whole', use: 'makes', kind: 'reconcile' }, async (app) => {
    const lock = await tryReconcile(app.ledger);
    if (!lock)
      throw new Stop(
        11,
        'another process is reconciling this ledger; wait for it, then run the command again',
      );
    try {
      const payload = {
        full: Boolean(options.full),
        followUp: options.followUp !== false,
        signal: context.signal,
      };
      const run = await reconcileJob.runByHand(app, payload);
      return describe(context, config, run, await findHalt(app.ledger.db));
    } finally {
      await lock.release();
    }
  });
};

function describe(
  context: Context,
  config: Config,
  run: reconcileJob.ReconcileResult,
  halted: Halt | undefined,
): Result {
  const open = Object.keys(run.discrepancies.open).length > 0;
  const unlisted = hasNoList(run);
  const before = countsText(run.discrepancies.open);
  const found = !isUsable(run.list)
    ? `not checked: no list to compare with; known: ${before}`
    : `open: ${before}; ${run.discrepancies.opened} opened, ${run.discrepancies.resolved} resolved by this run`;
  const listing = `listing        ${counted(run.listed, 'transfer')} in ${counted(run.passes, 'pass', 'passes')}, ${listingText(run)}`;
  const discrepancies = `discrepancies  ${found}`;
  const verdicts = verdictLines(run);
  const stands = [
    ...(open ? ['What to do about each: counterfoil discrepancies'] : []),
    ...(halted ? [`sending is halted ${haltText(halted)}`] : []),
  ];
  const taken = run.taken ?? [];
  const partly = taken.filter(({ skipped }) => skipped > 0);
  const lines = [
    ...taken.flatMap(collectionLines),
    `run            ${run.run}`,
    listing,
    `matched        ${counted(run.matched, 'payout')}`,
    ...verdicts,
    discrepancies,
    `follow-up      ${run.lookups} look-ups, ${run.resends} resend requests${waitingText(run)}`,
    ...besideLines(run),
    ...shortCutLines(run),
    ...run.reports,
    ...stands,
  ];
  const unproven = run.verdict === 'not_compared';
  const loose = run.verdict !== 'reconciled';
  // --quiet hides only success: everything behind a non-zero exit code is printed.
  if (context.options.quiet) {
    const troubles = [
      ...partly.flatMap(collectionLines),
      ...(unproven && !unlisted ? [listing] : []),
      ...(loose ? verdicts : []),
      ...(open ? [discrepancies] : []),
      ...stands,
    ];
    for (const line of troubles) context.say(line);
  }
  const refused = run.refused ?? [];
  for (const { file, problems, problem_count: count, error } of refused) {
    context.say(`refused  ${file}: no collection in it is expected`);
    for (const line of problemLines(problems, count)) context.say(line);
    if (error !== undefined) context.say(`  ${error}`);
  }
  const unkept = refused.some(({ error }) => error !== undefined);
  const error = runError(config, run, context.signal.aborted);
  return {
    code: worst(
      unlisted || unkept ? 1 : 0,
      refused.length + partly.length > 0 ? 3 : 0,
      open || halted || loose ? 4 : 0,
    ),
    ...(unlisted && error !== undefined && { problem: error }),
    lines: context.options.quiet ? [] : lines,
    json: { ...run, ...(error !== undefined && { error }) },
  };
}

/** The verdict and the non-zero lines of each currency; the run's verdict when no money moved. */
function verdictLines({ verdict, statement }: reconcileJob.ReconcileResult): string[] {
  const all = Object.entries(statement);
  if (all.length === 0) return verdict === 'reconciled' ? [] : [`statement      ${verdictWords[verdict]}`];
  return all.map(([currency, one]) => `statement      ${currency} ${currencyText(one)}`);
}

/** What a whole listing found that earlier short cuts missed (P29). */
function shortCutLines({ short_cut: shortCut }: reconcileJob.ReconcileResult): string[] {
  if (!shortCut) return [];
  return [
    `warning: earlier runs took a short cut and missed ${shortCut.missed} transfers, which this run compared; runs read the whole list again until a reconcile --full sees its order hold`,
  ];
}

/** How much of the list is proven. For a short cut, also how to read the rest. */
function listingText({ complete, trouble }: reconcileJob.ReconcileResult): string {
  // The list is whole, but may be another account's.
  if (complete && trouble !== undefined) return `whole, but proves nothing: ${trouble}`;
  if (complete === 'window')
    return 'proven complete inside the window (a short cut; --full reads the whole list)';
  return complete ? 'proven complete' : `NOT proven complete: ${trouble ?? 'unknown'}`;
}

/** How webhooks arrive, and the states of collections; empty when there are none. */
function besideLines({
  webhooks,
  resend_requests: again,
  collections,
}: reconcileJob.ReconcileResult): string[] {
  const lines: string[] = [];
  if (webhooks && webhooks.due + webhooks.forged > 0) {
    const { due, heard, late, resent, forged } = webhooks;
    const lost = due - heard;
    lines.push(
      `webhooks       ${heard} of ${due} due webhooks were received (${late} late, ${resent} after asking again), ${lost} missing, ${forged} forged`,
    );
  }
  if (again && again.gave_up > 0)
    lines.push(
      `               ${again.gave_up} were asked for again without success: no more requests are made`,
    );
  if (collections && Object.keys(collections.states).length > 0)
    lines.push(
      `collections    ${countsText(collections.states)}; ${collections.verified} asked about by this run`,
    );
  return lines;
}

function waitingText({ resend_requests: again }: reconcileJob.ReconcileResult): string {
  if (!again || again.waiting === 0) return '';
  return ` (${again.waiting} more wait for their time or the rate limit: counterfoil serve or the next reconcile asks for them)`;
}
