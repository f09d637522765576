import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { holdVerb } from '../../../verbs/hold.ts';
import { holdAllVerb } from '../../../verbs/hold-all.ts';
import { releaseVerb } from '../../../verbs/release.ts';
import { releaseAllVerb } from '../../../verbs/release-all.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { haltCauseText, sayHalt } from '../../../words/halt-words.ts';
import { holdTexts, stayTexts } from '../../../words/hold-words.ts';
import { readable } from '../../../words/readable.ts';
import { holdJson, releaseJson } from '../../json/order-json.ts';
import { orderedBatch } from '../context/named-batch.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { haltText, notReleased, notReleasedLines } from '../kit/describe.ts';
import { terminalOf } from '../kit/terminal.ts';
import { payoutsText } from './batch-lines.ts';

/** `hold BATCH`, `hold --mode`: the brake (P21). Reports what was already in flight. */
export const hold: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: options.mode ? 'begins' : 'writes' }, (app) => {
    refuseBoth(args, options);
    return options.mode ? holdMode(context, app) : holdOne(context, app, args);
  });
};

async function holdMode(context: Context, app: App<'local'>): Promise<Result> {
  const { mode } = app.config;
  const { sending } = await holdAllVerb.run(app, {}, orderer(context));
  const said = [`Everything in mode ${mode} is held; ${underWayText(sending)}.`];
  return {
    isNews: true,
    code: 0,
    screen: { blocks: [said], end: { Next: 'counterfoil release --mode' } },
    json: { shape: 'hold --mode', fields: { mode, held: true, sending } },
  };
}

async function holdOne(context: Context, app: App<'local'>, args: string[]): Promise<Result> {
  const { id: batch } = await orderedBatch(app, args);
  const done = await holdVerb.run(app, { batch }, orderer(context));
  if (done.kind === 'refused') throw stopFor(done);
  const { moved, underWay, ended } = done;
  const sending = underWay.sending ?? 0;
  const said = [
    `${batch}: ${counted(moved, 'payout')} held; ${underWayText(sending)}.`,
    `  Already on their way or done: ${payoutsText(underWay)}.`,
    ...(ended ? [`  A release has ended this hold meanwhile: ${batch} is not held.`] : []),
  ];
  const next = ended ? `counterfoil hold ${batch}` : moved > 0 ? `counterfoil release ${batch}` : '';
  return {
    isNews: true,
    code: ended ? 4 : 0,
    screen: { blocks: [said], end: { Next: next } },
    json: { shape: 'hold', fields: holdJson(done) },
  };
}

/** `release BATCH`, `release --mode`: releases a held batch, or lifts a halt (P11). */
export const release: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'writes' }, (app) => {
    refuseBoth(args, options);
    const note = readNote(options);
    return options.mode ? releaseMode(context, app, { ...options, note }) : releaseOne(context, app, args);
  });
};

const inVain = {
  unread:
    'the note lifts nothing before counterfoil reconcile --full has read the list of the account that is named now',
  unseen: 'the note lifts nothing: other things are not proven now; read that first',
};

async function releaseMode(
  context: Context,
  app: App<'local'>,
  { note, evidence }: { note: string | undefined; evidence?: unknown },
): Promise<Result> {
  const { mode } = app.config;
  const terminal = terminalOf(context, app.config, app.clock.iso());
  const given = { ...(note !== undefined && { note }), ...(typeof evidence === 'string' && { evidence }) };
  const done = await releaseAllVerb.run(app, given, orderer(context));
  const lifted = sayHalt(done.lifted);
  const halted = sayHalt(done.halt);
  const waived = typeof done.waived === 'object' ? done.waived : null;
  const line = lifted
    ? `The halt of mode ${mode} (${lifted.cause}) is lifted.`
    : waived
      ? 'The ledger no longer waits for a complete list.'
      : halted
        ? 'Nothing was lifted.'
        : `Mode ${mode} was not halted.`;
  const said = [
    line,
    ...(waived
      ? [
          `not proven: ${readable(waived.notProven, terminal.time)}`,
          'new batches go out; what may have been sent stays unknown, for settle',
        ]
      : []),
    ...(halted ? [`Sending is still halted ${haltText(halted, terminal)}`] : []),
    ...(typeof done.waived === 'string' ? [inVain[done.waived]] : []),
  ];
  return {
    isNews: true,
    code: halted ? 4 : 0,
    screen: { blocks: [said], end: { Next: halted ? '' : submitCommand(mode) } },
    json: {
      shape: 'release --mode',
      fields: {
        mode,
        released: Boolean(lifted || waived),
        cause: lifted?.cause ?? null,
        waived: waived !== null,
        not_proven: waived?.notProven ?? null,
        evidence: done.evidence,
        halted: halted ?? null,
      },
    },
  };
}

async function releaseOne(context: Context, app: App<'local'>, args: string[]): Promise<Result> {
  const { config, clock } = app;
  const { id: batch } = await orderedBatch(app, args);
  const done = await releaseVerb.run(app, { batch }, orderer(context));
  if (done.kind === 'refused') throw stopFor(done);
  const { released, seen, canary, unanswered, sending } = done;
  const { moved } = released;
  const stays = holdTexts(released.stays, batch);
  const halted = sayHalt(done.halt);
  const lines = [
    `${batch}: ${counted(moved, 'payout')} released; ${underWayText(sending)}.`,
    ...notReleasedLines(released),
    ...stayTexts(released.stays, { seen, batch }).map((text) => `  ${text}`),
  ];
  const failed = canary ? haltCauseText(canary.causes) : null;
  if (unanswered !== null)
    lines.push(`  it goes on without the answer to service.extras (${visible(unanswered)})`);
  if (failed !== null) lines.push(`payouts that waited for their canary go on (${failed})`);
  if (halted)
    lines.push(`Sending is still halted ${haltText(halted, terminalOf(context, config, clock.iso()))}`);
  const goesOn = moved > 0 || canary || unanswered !== null;
  const next = halted ? 'counterfoil status' : goesOn ? submitCommand(config.mode) : '';
  return {
    isNews: true,
    code: stays.length > 0 || notReleased(released) || halted ? 4 : 0,
    screen: { blocks: [lines], end: { Next: next } },
    json: { shape: 'release', fields: releaseJson(done) },
  };
}

/** The note of `release --mode`, if there is one. */
function readNote({ mode, note }: Record<string, unknown>): string | undefined {
  if (typeof note !== 'string') return undefined;
  if (!mode) throw new Stop('--note goes with --mode; nothing was done');
  if (note.trim() === '') throw new Stop('say how you know: --note "account closed, letter of 3 May"');
  return note.trim();
}

/** Refuses a batch name beside --mode: it would be ignored, and everything released instead of one batch. */
function refuseBoth(args: string[], options: Record<string, unknown>): void {
  if (options.mode && args.length > 0)
    throw new Stop(`name a batch ("${args[0]}") or say --mode for everything, not both; nothing was done`);
}

/** Counts the payouts already in a request: these can no longer be held (P21). */
function underWayText(sending: number): string {
  return `${sending} ${sending === 1 ? 'was' : 'were'} already sending`;
}
