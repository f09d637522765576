import * as reconcileJob from '../../jobs/reconcile.ts';
import { tryExclusive } from '../runtime/worker-lock.ts';
import { type Context, loadSettings, withApp } from './context.ts';
import { countsText } from './describe.ts';
import { type Result, Stop, worst } from './result.ts';

/** `reconcile`: one reconciliation, now. 4 when something is open or the listing could not be proven whole. */
export async function reconcile(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const config = await loadSettings(context);
  const lock = tryExclusive(config.dataDir, 'reconcile');
  if (!lock)
    throw new Stop(11, 'another process is reconciling this ledger; wait for it, then run the command again');
  try {
    return await withApp(
      { ...context, options: { ...context.options, quiet: true } },
      'reconcile',
      async (app) => {
        const payload = {
          full: Boolean(options.full),
          followUp: options.followUp !== false,
          signal: context.signal,
        };
        return describe(await reconcileJob.run(app, payload));
      },
    );
  } finally {
    lock.release();
  }
}

function describe(run: reconcileJob.ReconcileResult): Result {
  const open = Object.keys(run.discrepancies.open).length > 0;
  const unlisted = run.complete === false && run.listed === 0 && run.trouble !== undefined;
  const lines = [
    `run            ${run.run}`,
    `listing        ${run.listed} transfers in ${run.passes} passes, ${run.complete ? 'proven complete' : `NOT proven complete: ${run.trouble ?? 'unknown'}`}`,
    `matched        ${run.matched} payouts`,
    `discrepancies  open: ${countsText(run.discrepancies.open)}; ${run.discrepancies.opened} opened, ${run.discrepancies.resolved} resolved by this run`,
    `follow-up      ${run.lookups} look-ups, ${run.resends} resend requests`,
    ...run.reports,
  ];
  if (open) lines.push('What to do about each: counterfoil discrepancies');
  return {
    code: worst(unlisted ? 1 : 0, open || run.complete === false ? 4 : 0),
    ...(unlisted && {
      problem: `the service gave no list: ${run.trouble}. Nothing is called missing; run reconcile again when it answers`,
    }),
    lines,
    json: { ...run },
  };
}
