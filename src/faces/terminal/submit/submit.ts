import { resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import * as submitJob from '../../../../jobs/submit.ts';
import type { App } from '../../../app/app.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { forbiddenPlace } from '../../../core/domain/forbidden.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { type WaitingFile, waitingWhy } from '../../../core/domain/waiting-file.ts';
import type { Took } from '../../../intake/intake.ts';
import { behindSudo } from '../../../sending/approval.ts';
import { sendable } from '../../../sending/claims.sql.ts';
import { findHalt } from '../../../sending/halts.sql.ts';
import type { CheckProgress } from '../../../sending/precheck.ts';
import { batchesSentFrom, newestAttempt } from '../../../sending/sent-batches.sql.ts';
import { confirmSending, hushed, loadSettings } from '../context/context.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { tellPeople } from '../kit/tell-people.ts';
import { describeDryRun } from './submit-dry-run.ts';
import { describeSubmit } from './submit-result.ts';
import type { Sent, TakenFiles } from './submit-standing.ts';

const checkLineMs = 5000;

type Figures = { rows?: number; totals?: Record<string, string> };
type Options = { dryRun?: boolean; wait?: boolean; rows?: string; total?: string[]; live?: boolean };

/** `submit [FILE…]`: takes in, sends, writes results. Without files: the inbox, and everything that is ready. */
export const submit: Handler = async (context, args, given) => {
  const options: Options = given;
  const config = await loadSettings(context);
  if (options.live && config.mode !== 'live')
    throw new Stop(`mode is ${config.mode}: no real money would move; leave --live out. Nothing was done`);
  // loadSettings already printed the configuration's warnings.
  const silent = hushed(context);
  const takes = (app: App<'local'>) => takeOnly(context, app, args, options);
  if (options.dryRun) return withApp(silent, { level: 'local', use: 'tries' }, takes);
  if (options.wait === false) return withApp(silent, { level: 'local', use: 'makes' }, takes);
  await confirmSending(context, config, Boolean(options.live));
  return withApp(silent, { level: 'whole', use: 'makes', kind: 'submit' }, async (app) => {
    const { taken, expected, givenBack } = await takeAll(context, app, args, options);
    const only = args.length > 0 ? batchesOf(taken) : undefined;
    const newest = await newestAttempt(app.ledger.db);
    const sent = await send(context, app, only);
    const sentFrom = await batchesSentFrom(app.ledger.db, app.workers.id, newest);
    const written = await writeResults(app);
    await tellPeople(context, app);
    return describeSubmit(context, app, { taken, expected, givenBack, sent, sentFrom, only, ...written });
  });
};

async function takeOnly(
  context: Context,
  app: App<'local'>,
  args: string[],
  options: Options,
): Promise<Result> {
  if (options.dryRun) return describeDryRun((await takeIn(context, app, args, options)).taken, context, app);
  const { taken, expected, givenBack } = await takeAll(context, app, args, options);
  const sent: Sent = { ended: 'not_started', detail: '' };
  const sentFrom = new Set<string>();
  const only = batchesOf(taken);
  return describeSubmit(context, app, { taken, expected, givenBack, sent, sentFrom, only, files: [] });
}

/** Writes the result files. `unwritten`: why they cannot be written; what was sent must still be reported. */
async function writeResults({ reporting }: App): Promise<{ files: string[]; unwritten?: string }> {
  try {
    const files = await reporting.writeDueBatchResults();
    await reporting.writeIndex();
    return { files };
  } catch (error) {
    const forbidden = forbiddenPlace(error);
    if (!forbidden) throw error;
    const unwritten = `the result files could not be written: ${forbidden.place} (${forbidden.why}). What was sent is recorded, nothing is lost: make it writable for this account, then run counterfoil report`;
    return { files: [], unwritten };
  }
}

function batchesOf(taken: TakenFiles[]): string[] {
  return taken.flatMap((t) => (t.kind === 'taken' ? [t.batch] : []));
}

/** Takes in payouts, then expected collections if no file was named. */
async function takeAll(context: Context, app: App<'local'>, args: string[], options: Options) {
  const { taken, givenBack } = await takeIn(context, app, args, options);
  if (args.length > 0) return { taken, givenBack, expected: [] };
  const { signal } = context;
  const expected = await patiently(context, app, () => app.intake.takeCollections({ signal }));
  return { taken, expected: expected.taken, givenBack: [...givenBack, ...expected.givenBack] };
}

async function takeIn(
  context: Context,
  app: App<'local'>,
  args: string[],
  options: Options,
): Promise<Took<TakenFiles>> {
  const dryRun = Boolean(options.dryRun);
  const figures = readControl(options);
  if (args.length === 0) {
    const asked = { dryRun, signal: context.signal, ...(figures && { figures }) };
    const look = () => app.intake.takeInbox(asked);
    const swept = dryRun ? await look() : await patiently(context, app, look);
    const { taken, waiting, ignored } = swept;
    if (figures && taken.length === 0) throw new Stop(notOneFile(app.paths.inbox, waiting));
    if (context.options.quiet) return swept;
    for (const { name, why } of waiting) context.say(`waiting  ${visible(name)}: ${waitingWhy(why)}`);
    for (const { name, why } of ignored) context.say(`ignored  ${name}: ${why}`);
    return swept;
  }
  const told = {
    origin: 'named' as const,
    behind: behindSudo(context.env),
    dryRun,
    signal: context.signal,
    ...figures,
  };
  return app.intake.takeFiles(
    args.map((file) => resolve(context.cwd, file)),
    told,
  );
}

type Look<T> = Took<T> & { waiting: WaitingFile[] };

/** Looks again after a minute for files that only lack their last line end: no later command remembers this look. */
async function patiently<T, L extends Look<T>>(
  { options, say, signal }: Context,
  { clock }: App<'local'>,
  look: () => Promise<L>,
): Promise<L> {
  const first = await look();
  const waits = first.waiting.map(({ why }) => (why.kind === 'no_line_end' ? why.leftMs : 0));
  const leftMs = Math.max(0, ...waits);
  if (leftMs === 0) return first;
  if (!options.quiet)
    for (const { name, why } of first.waiting)
      if (why.kind === 'no_line_end')
        say(`waiting  ${visible(name)}: ${waitingWhy(why)} (${Math.ceil(leftMs / 1000)} s)`);
  await clock.sleep(leftMs, signal);
  if (signal.aborted) return first;
  const second = await look();
  const givenBack = [...first.givenBack, ...second.givenBack];
  return { ...second, givenBack, taken: [...first.taken, ...second.taken] };
}

function readControl({ rows, total }: Options): Figures | undefined {
  if (rows === undefined && total === undefined) return undefined;
  if (rows !== undefined && !/^\d+$/.test(rows))
    throw new Stop(`--rows: expected a whole number, got "${rows}"`);
  const totals = (total ?? []).map((text) => {
    const [currency, amount] = text.split('=');
    if (!currency || !amount)
      throw new Stop(`--total: expected CURRENCY=AMOUNT such as NGN=1200000.00, got "${text}"`);
    return [currency, amount] as const;
  });
  return {
    ...(rows === undefined ? {} : { rows: Number(rows) }),
    ...(totals.length > 0 && { totals: Object.fromEntries(totals) }),
  };
}

/** Why control figures without a file are refused: they belong to one file, and others would be paid unchecked. */
function notOneFile(inbox: string, lying: readonly WaitingFile[]): string {
  const [only] = lying;
  const why =
    only !== undefined && lying.length === 1
      ? `${visible(only.name)} waits, since ${waitingWhy(only.why)}: run the command again when it is whole`
      : `${inbox} holds ${lying.length} files: name the file, or put NAME.csv.control.json beside each`;
  return `--rows and --total are the figures of one file; ${why}. Nothing was taken in or sent`;
}

async function send(context: Context, app: App, batches: string[] | undefined): Promise<Sent> {
  if (batches?.length === 0) return { ended: 'not_started', detail: '' };
  await app.takeOver();
  await submitJob.settleBrakes(app, context.signal);
  const left = await sendable(app.ledger.db, { ...(batches && { batches }), ...app.brakes.under() });
  const halted = await findHalt(app.ledger.db);
  const unchecked = await app.brakes.waits(batches && { batches });
  const waiting = unchecked.reduce((sum, one) => sum + (one.kind === 'check' ? one.count : 0), 0);
  if (left.ready + waiting === 0 || halted) return { ended: 'not_started', detail: '' };
  const cleared = await app.preflight(context.signal);
  if (cleared.kind === 'problem') return { ended: 'uncleared', detail: cleared.problem };
  const bar = progressBar(context, left.ready + waiting);
  const startedMs = app.clock.now();
  let sentCount = 0;
  try {
    return await submitJob.run(app, {
      ...(batches && { scope: { batches } }),
      signal: context.signal,
      onProgress: (done) => {
        sentCount += done;
        const seconds = Math.max(1, app.clock.now() - startedMs) / 1000;
        bar?.increment(done, { rate: Math.round(sentCount / seconds) });
      },
      onCheck: checkLines(context, app),
    });
  } finally {
    bar?.stop();
  }
}

/** Says every few seconds how far the questions before payment are. */
function checkLines({ options, say }: Context, { clock }: App): (progress: CheckProgress) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  let saidKnown = '';
  return ({ batch, known, count }) => {
    const isOften = clock.monotonic() - saidAt < checkLineMs && known < count;
    if (options.quiet || options.json || isOften || saidKnown === `${batch} ${known}`) return;
    saidKnown = `${batch} ${known}`;
    saidAt = clock.monotonic();
    say(`asking    ${batch}: the account names of ${grouped(String(known))} of ${counted(count, 'payout')}`);
  };
}

function progressBar(context: Context, total: number): SingleBar | undefined {
  if (!context.terminal || context.options.json || context.options.quiet) return undefined;
  const bar = new SingleBar({
    format: '  sending  {bar}  {value}/{total}   {rate}/s',
    barCompleteChar: '━',
    barIncompleteChar: ' ',
    barsize: 28,
    stream: process.stderr,
  });
  bar.start(total, 0, { rate: 0 });
  return bar;
}
