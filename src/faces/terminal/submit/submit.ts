import { resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import { z } from 'zod';
import type { App } from '../../../app/app.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { waitingWhy } from '../../../core/domain/waiting-file.ts';
import type { CheckProgress } from '../../../sending/precheck.ts';
import { submitVerb } from '../../../verbs/submit.ts';
import { batchesOf, type TakeInProgress, takeInVerb } from '../../../verbs/take-in.ts';
import { confirmSending, hushed, loadSettings } from '../context/context.ts';
import { orderer, stopFor } from '../context/person.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { tellPeople } from '../kit/tell-people.ts';
import { describeDryRun } from './submit-dry-run.ts';
import { describeSubmit } from './submit-result.ts';

const checkLineMs = 5000;

type Figures = { rows?: number; totals?: Record<string, string> };
type Options = {
  dryRun?: boolean;
  wait?: boolean;
  rows?: string;
  total?: string[];
  payOn?: string;
  live?: boolean;
};

/** `submit [FILE…]`: takes in, sends, writes results. Without files: the inbox, and everything that is ready. */
export const submit: Handler = async (context, args, given) => {
  const options: Options = given;
  const config = await loadSettings(context);
  if (options.live && config.mode !== 'live')
    throw new Stop(`mode is ${config.mode}: no real money would move; leave --live out. Nothing was done`);
  const figures = readControl(options);
  const files = args.map((file) => resolve(context.cwd, file));
  const payOn = readDay(options.payOn);
  if (payOn !== undefined && files.length === 0 && (await isTakenByServe(config.dataDir)))
    throw new Stop(
      `--pay-on: serve takes the files of the inbox by itself, without this day: name the file, as in counterfoil submit FILE --pay-on ${payOn}. Nothing was done`,
    );
  const order = {
    ...(files.length > 0 && { files }),
    ...(figures && { figures }),
    ...(payOn !== undefined && { payOn }),
  };
  // loadSettings already printed the configuration's warnings.
  const silent = hushed(context);
  const { signal } = context;
  const dryRun = Boolean(options.dryRun);
  if (dryRun || options.wait === false)
    return withApp(silent, { level: 'local', use: dryRun ? 'tries' : 'makes' }, async (app) => {
      const parts = { ...app, ...intakeLines(context, payOn), signal };
      const took = await takeInVerb.run(parts, { ...order, dryRun }, orderer(context));
      if (took.kind === 'refused') throw stopFor(took);
      if (dryRun) return describeDryRun(took.taken, context, app);
      return describeSubmit(context, app, { ...took, ...unsent, only: batchesOf(took.taken) });
    });
  await confirmSending(context, config, Boolean(options.live));
  return withApp(silent, { level: 'whole', use: 'makes', kind: 'submit' }, async (app) => {
    const bar = sendingBar(context, app);
    const onCheck = checkLines(context, app);
    const parts = { ...app, ...intakeLines(context, payOn), ...bar, onCheck, signal };
    const done = await submitVerb.run(parts, order, orderer(context)).finally(bar.stop);
    if (done.kind === 'refused') throw stopFor(done);
    await tellPeople(context, app);
    return describeSubmit(context, app, done);
  });
};

const unsent = {
  sent: { ended: 'not_started' as const },
  sentFrom: new Set<string>(),
  files: [],
  unwritten: null,
};

/** Whether a daemon may take a file of the inbox before this command does. */
async function isTakenByServe(dataDir: string): Promise<boolean> {
  const { findServing } = await import('../../../core/runtime/serve-lock.ts');
  return findServing(dataDir) === true;
}

/**
 * Says which files wait, and which are left in the inbox. `payOn`: the day that a file which is left does not get, since no
 * later command remembers it.
 */
function intakeLines({ options, say }: Context, payOn: string | undefined): TakeInProgress {
  const undated = payOn === undefined ? '' : `; it does not get the day ${payOn}: give --pay-on again`;
  if (options.quiet)
    return {
      onLeft: (waiting) => {
        for (const { name } of undated === '' ? [] : waiting) say(`waiting  ${visible(name)}${undated}`);
      },
    };
  return {
    onWait(waiting, leftMs) {
      for (const { name, why } of waiting)
        if (why.kind === 'no_line_end')
          say(`waiting  ${visible(name)}: ${waitingWhy(why)} (${Math.ceil(leftMs / 1000)} s)`);
    },
    onLeft(waiting, ignored) {
      for (const { name, why } of waiting) say(`waiting  ${visible(name)}: ${waitingWhy(why)}${undated}`);
      for (const { name, why } of ignored) say(`ignored  ${name}: ${why}`);
    },
  };
}

function readDay(day: string | undefined): string | undefined {
  if (day !== undefined && !z.iso.date().safeParse(day).success)
    throw new Stop(`--pay-on: expected a day as YYYY-MM-DD, got "${day}"`);
  return day;
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
  const names = totals.map(([currency]) => currency);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new Stop(`--total: ${twice} is named twice: give one total per currency`);
  return {
    ...(rows === undefined ? {} : { rows: Number(rows) }),
    ...(totals.length > 0 && { totals: Object.fromEntries(totals) }),
  };
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

/** A bar of the payouts that go, on a terminal. */
function sendingBar({ terminal, options }: Context, { clock }: App) {
  let bar: SingleBar | undefined;
  let startedMs = 0;
  let sentCount = 0;
  return {
    onStart(payouts: number) {
      startedMs = clock.now();
      if (!terminal || options.json || options.quiet) return;
      bar = new SingleBar({
        format: '  sending  {bar}  {value}/{total}   {rate}/s',
        barCompleteChar: '━',
        barIncompleteChar: ' ',
        barsize: 28,
        stream: process.stderr,
      });
      bar.start(payouts, 0, { rate: 0 });
    },
    onSent(count: number) {
      sentCount += count;
      const seconds = Math.max(1, clock.now() - startedMs) / 1000;
      bar?.increment(count, { rate: Math.round(sentCount / seconds) });
    },
    stop: () => bar?.stop(),
  };
}
