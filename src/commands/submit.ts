import { resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import * as submitJob from '../../jobs/submit.ts';
import type { App, LocalApp } from '../app.ts';
import { batchCounts, readReasons } from '../ledger/batches.ts';
import { findHalt, sendable } from '../ledger/claims.ts';
import { type Context, confirmSending, loadSettings, withApp, withLocal } from './context.ts';
import { countsText, problemLines, totalsText } from './describe.ts';
import { type Result, Stop, worst } from './result.ts';

type Taken = Awaited<ReturnType<LocalApp['intake']['takeIn']>>;
type Options = { dryRun?: boolean; wait?: boolean; rows?: string; total?: string[]; live?: boolean };
type Sent = Awaited<ReturnType<typeof submitJob.run>> | { ended: 'not_started'; detail: string };

/** `submit [FILE…]`: intake, sending, results. Without files: the inbox, and everything that is ready. */
export async function submit(
  context: Context,
  args: string[],
  given: Record<string, unknown>,
): Promise<Result> {
  const options: Options = given;
  if (options.dryRun) return withLocal(context, (app) => takeOnly(context, app, args, options));
  const config = await loadSettings(context);
  if (options.wait === false) return withLocal(context, (app) => takeOnly(context, app, args, options));
  await confirmSending(context, config, Boolean(options.live));
  return withApp({ ...context, options: { ...context.options, quiet: true } }, 'submit', async (app) => {
    const taken = await takeIn(context, app, args, options);
    const batches = args.length > 0 ? taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : [])) : undefined;
    const sent = await send(context, app, batches);
    await app.reporting.writeDueBatchResults();
    await app.reporting.writeIndex();
    return describe(context, app, taken, sent, batches);
  });
}

async function takeOnly(context: Context, app: LocalApp, args: string[], options: Options): Promise<Result> {
  const taken = await takeIn(context, app, args, options);
  const dry = taken.flatMap((t) => (t.kind === 'dry_run' ? [t.checked] : []));
  if (options.dryRun) {
    const refused = taken.flatMap((t) => (t.kind === 'refused' ? [t] : []));
    const lines = dry.map((c) =>
      c.ok
        ? `would take  ${c.file}: ${c.rows} payouts, ${totalsText(c.totals)}`
        : `would refuse  ${c.file}: ${c.problemCount} problem(s)`,
    );
    const bad = dry.filter((c) => !c.ok).map(({ file, problems }) => ({ file, problems }));
    const json = {
      dry_run: true,
      batches: dry
        .filter((c) => c.ok)
        .map(({ file, rows, totals, warnings, banks }) => ({ file, rows, totals, warnings, banks })),
      refused: [...bad, ...refused.map(({ file, problems }) => ({ file, problems }))],
    };
    return { code: json.refused.length > 0 ? 3 : 0, lines: [...lines, ...refusedLines(taken)], json };
  }
  return describe(context, app, taken, { ended: 'not_started', detail: '' }, batchesOf(taken));
}

function batchesOf(taken: Taken[]): string[] {
  return taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : []));
}

async function takeIn(context: Context, app: LocalApp, args: string[], options: Options): Promise<Taken[]> {
  if (!options.dryRun) {
    await app.intake.removeHalfLoaded();
    await app.intake.finishMoves();
  }
  const dryRun = Boolean(options.dryRun);
  if (args.length === 0) return (await app.intake.takeInbox({ dryRun })).taken;
  const control = readControl(options);
  const taken: Taken[] = [];
  for (const file of args) {
    taken.push(await app.intake.takeIn(resolve(context.cwd, file), { origin: 'named', dryRun, ...control }));
  }
  return taken;
}

function readControl({ rows, total }: Options): { rows?: number; totals?: Record<string, string> } {
  if (rows !== undefined && !/^\d+$/.test(rows))
    throw new Stop(2, `--rows: expected a whole number, got "${rows}"`);
  const totals = (total ?? []).map((text) => {
    const [currency, amount] = text.split('=');
    if (!currency || !amount)
      throw new Stop(2, `--total: expected CURRENCY=AMOUNT such as NGN=1200000.00, got "${text}"`);
    return [currency, amount] as const;
  });
  return {
    ...(rows === undefined ? {} : { rows: Number(rows) }),
    ...(totals.length > 0 && { totals: Object.fromEntries(totals) }),
  };
}

async function send(context: Context, app: App, batches: string[] | undefined): Promise<Sent> {
  if (batches?.length === 0) return { ended: 'not_started', detail: '' };
  await app.takeOver();
  const { mode } = app.config;
  const left = await sendable(app.ledger.db, mode, batches);
  const halted = await findHalt(app.ledger.db, mode);
  if (left.ready === 0 || halted) return { ended: 'not_started', detail: '' };
  const cleared = await app.preflight();
  if (cleared.kind === 'problem') throw new Stop(1, cleared.problem);
  const bar = progressBar(context, left.ready);
  try {
    return await submitJob.run(app, {
      ...(batches && { batches }),
      signal: context.signal,
      onProgress: (done) => bar?.increment(done),
    });
  } finally {
    bar?.stop();
  }
}

function progressBar(context: Context, total: number): SingleBar | undefined {
  if (!context.terminal || context.options.json || context.options.quiet) return undefined;
  const bar = new SingleBar({
    format: 'sending {bar} {value}/{total} payouts, {eta_formatted} left',
    stream: process.stderr,
  });
  bar.start(total, 0);
  return bar;
}

async function describe(
  context: Context,
  app: LocalApp,
  taken: Taken[],
  sent: Sent,
  only: string[] | undefined,
): Promise<Result> {
  const { mode } = app.config;
  const fresh = new Map(taken.flatMap((t) => (t.kind === 'taken' ? [[t.batch, t] as const] : [])));
  const all = await batchCounts(app.ledger.db, mode, only);
  const shown = all.filter(
    ({ batch, state }) => only || fresh.has(batch.id) || !['done', 'cancelled'].includes(state),
  );
  const halted = await findHalt(app.ledger.db, mode);
  const lines = shown.flatMap(({ batch, state, counts, totals }) => [
    `${batch.id}: ${state}, ${countsText(counts)}; ${totalsText(totals)}`,
    ...(fresh.get(batch.id)?.warnings ?? []).map((warning) => `  warning: ${warning}`),
    ...(state === 'held' ? readReasons(batch.hold_reasons).map((reason) => `  held: ${reason}`) : []),
  ]);
  if (shown.length === 0 && taken.length === 0)
    lines.push(`nothing to do: no whole file in ${app.paths.inbox}, nothing ready to send`);
  if (halted)
    lines.push(
      `sending is halted since ${halted.at}: ${halted.cause}. When the cause is gone: counterfoil release --mode`,
    );
  if (!context.options.json) for (const line of refusedLines(taken)) context.say(line);
  const person =
    shown.some(({ state, counts }) => state === 'held' || (counts.unknown ?? 0) > 0) || Boolean(halted);
  const failed = sent.ended === 'unreachable' || sent.ended === 'stuck';
  const skipped = taken.some((t) => t.kind === 'refused' || (t.kind === 'taken' && t.skipped !== null));
  return {
    code: worst(failed ? 1 : 0, skipped ? 3 : 0, person ? 4 : 0),
    ...(failed && {
      problem: `${sent.detail}; what is left stays ready. Check the network and service.base_url, then run submit again`,
    }),
    lines,
    json: {
      batches: shown.map(({ batch, state, counts, totals }) => ({
        batch: batch.id,
        file: batch.file_name,
        rows: Number(batch.row_count),
        totals,
        state,
        payouts: counts,
        warnings: fresh.get(batch.id)?.warnings ?? [],
      })),
      refused: taken.flatMap((t) =>
        t.kind === 'refused' ? [{ file: t.file, problems: t.problems, errors_file: t.errorsFile }] : [],
      ),
      halted: halted ? { cause: halted.cause, at: halted.at } : null,
    },
  };
}

function refusedLines(taken: Taken[]): string[] {
  return taken.flatMap((t) =>
    t.kind === 'refused'
      ? [
          `refused  ${t.file}: ${t.problemCount} problem(s); nothing of it was recorded or sent`,
          ...problemLines(t.problems, t.problemCount),
          ...(t.errorsFile ? [`  every problem: ${t.errorsFile}`] : []),
        ]
      : [],
  );
}
