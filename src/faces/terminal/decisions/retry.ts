import {
  askedBeforeRetry,
  mostPayouts,
  type RetryOutcome,
  retryable,
  retryVerb,
} from '../../../verbs/retry.ts';
import type { Weighed } from '../../../watching/evidence/weigh.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { haltInWords } from '../../../words/halt-words.ts';
import { preflightText } from '../../../words/preflight-words.ts';
import { shellWord } from '../../../words/readable.ts';
import { stopReason } from '../../../words/stop-words.ts';
import { evidenceJson, type QuietWatch, watchOf } from '../../json/evidence-json.ts';
import { type Asking, askAbout, withService } from '../context/ask-service.ts';
import { confirm, confirmSending } from '../context/context.ts';
import { namedBatch } from '../context/named-batch.ts';
import { nearestReference } from '../context/nearest-reference.ts';
import { orderer, stopFor } from '../context/person.ts';
import { didYouMean, type Result, Stop } from '../context/result.ts';
import type { Context, Handler } from '../context/world.ts';
import { haltText } from '../kit/describe.ts';
import { terminalOf } from '../kit/terminal.ts';
import { waitingText } from '../status/waiting.ts';
import { decisionQuestion, describeDecided, nothingNeeded, refusals, type SaidSent } from './decided.ts';
import { evidenceLines } from './evidence-lines.ts';
import { evidenceTable } from './evidence-table.ts';

type Options = { batch?: string; state?: string; evidence?: string; wait?: boolean; live?: boolean };
/** The ledger, the service when a key is configured, and the request. */
type Work = Asking & { context: Context; args: string[]; options: Options };

type Seen = { shown: Weighed; watch: QuietWatch };

/** `retry`: records a person's decision to send an unknown payout again, or to pay a failed or returned one again (P20). */
export const retry: Handler = async (context, args, given) => {
  const options: Options = given;
  const local = options.wait === false;
  return withService(context, 'retry', local, (asking) => decide({ context, ...asking, args, options }));
};

async function decide(work: Work): Promise<Result> {
  const { context, app } = work;
  await app.applyWebhooks(context.signal);
  const { ids, left } = await named(work);
  const since = app.clock.iso();
  await askAbout(context, work, ids, askedBeforeRetry);
  if (context.signal.aborted) throw new Stop('interrupted: nothing was decided', 1);
  const shown = await app.decisions.weigh(ids, since);
  const watch = watchOf(app);
  if (shown.cases.every(({ judgement }) => judgement.kind === 'no')) return refuseAll(work, shown, watch);
  const asked = await ask(work, shown, watch);
  if (asked) return asked;
  const references = shown.cases.map(({ payout }) => payout.reference);
  const order = { references, since, digest: shown.digest };
  const through = willSend(work) ? work.service : undefined;
  const parts = { ...app, through, signal: context.signal };
  const decision = await retryVerb.run(parts, order, orderer(context));
  if (decision.kind === 'refused') throw stopFor(decision);
  if (decision.kind === 'changed')
    return refuse(work, { shown: decision.now, watch }, 'the evidence changed; look again. Nothing was done');
  const sent = await sentText(work, decision);
  const told = describeDecided({ shown, watch, ...decision, sent, left }, app.config.mode);
  const next = sent.kind === 'sent' ? 'counterfoil reconcile' : 'counterfoil status';
  return { ...told, screen: { blocks: [told.lines ?? []], end: { Next: next } } };
}

/** The requested payouts. An unknown name is a typing error and stops everything. */
async function named({ app, args, options }: Work): Promise<{ ids: bigint[]; left: number }> {
  if (options.batch === undefined) {
    if (args.length === 0) throw new Stop('name references, or --batch BATCH');
    const { payouts, missing } = await app.decisions.find(args);
    if (missing.length > 0) {
      const names = missing.slice(0, 5).join(', ');
      const meant = missing.length === 1 ? await nearestReference(app, names) : undefined;
      throw new Stop(
        `no payout "${names}" in this ledger (mode ${app.config.mode})${didYouMean(meant, '.')} Nothing was done`,
      );
    }
    if (payouts.length > mostPayouts) throw new Stop(`name at most ${mostPayouts} references at once`);
    return { ids: payouts.map(({ id }) => id), left: 0 };
  }
  if (args.length > 0) throw new Stop('name references or a --batch, not both');
  const batch = await namedBatch(app, options.batch);
  const state = retryable.find((one) => one === (options.state ?? 'failed'));
  if (!state)
    throw new Stop(`--state: expected one of ${retryable.join(', ')}, got "${options.state ?? ''}"`);
  const { ids, count } = await app.decisions.findInBatch(batch.id, state, mostPayouts);
  if (ids.length === 0) throw new Stop(`${batch.id} has no ${state} payout that waits for a decision`);
  return { ids, left: count - ids.length };
}

/** Asks the person to confirm exactly this evidence. Returns the refusal when it changed or nobody can be asked. */
async function ask(work: Work, shown: Weighed, watch: QuietWatch): Promise<Result | undefined> {
  const { context, app, options } = work;
  const { yes, json } = context.options;
  if (options.evidence !== undefined && options.evidence !== shown.digest)
    return refuse(work, { shown, watch }, 'the evidence changed; look again. Nothing was done');
  if (yes && options.evidence === undefined) {
    return refuse(
      work,
      { shown, watch },
      `--yes needs the evidence it agrees to. Look, then run: ${command(work, shown)}`,
    );
  }
  if (!yes && !context.terminal) {
    const why = `a person must decide, and there is no terminal to ask on. Look, then run: ${command(work, shown)}`;
    return refuse(work, { shown, watch }, why);
  }
  if (!yes) {
    for (const line of linesOf(work, { shown, watch })) (json ? context.say : context.print)(line);
    await confirm(context, decisionQuestion(shown, willSend(work)));
  }
  if (willSend(work)) await confirmSending(context, app.config, true);
  return undefined;
}

function willSend({ app, service, options }: Work): boolean {
  if (!service || options.wait === false) return false;
  return app.config.mode !== 'live' || Boolean(options.live);
}

function command({ context, args, options }: Work, { digest }: Weighed): string {
  const { config, data } = context.options;
  const words = [
    'counterfoil retry',
    ...(options.batch === undefined ? args : [`--batch ${options.batch} --state ${options.state}`]),
    ...(config === undefined ? [] : [`--config ${shellWord(config)}`]),
    ...(data === undefined ? [] : [`--data ${shellWord(data)}`]),
    ...(options.wait === false ? ['--no-wait'] : []),
    ...(options.live ? ['--live'] : []),
    `--yes --evidence ${digest}`,
  ];
  return words.join(' ');
}

/** The evidence: a block for each named payout, a table for a batch. */
function linesOf({ context, app, options }: Work, { shown, watch }: Seen): string[] {
  const view = { watch, terminal: terminalOf(context, app.config, watch.now) };
  return options.batch === undefined ? evidenceLines(shown, view) : evidenceTable(shown, view);
}

function refuse(work: Work, { shown, watch }: Seen, problem: string): Result {
  const fields = { ...evidenceJson(shown, watch), decided: [], error: problem };
  const lines = linesOf(work, { shown, watch });
  return { code: 2, problem, lines, json: { shape: 'retry', fields } };
}

/** The result when none can be sent again: 0 if the service has all of them, else 2. */
function refuseAll(work: Work, shown: Weighed, watch: QuietWatch): Result {
  const had = nothingNeeded(shown);
  const [first, ...others] = refusals(shown).map(({ reference, why }) => `${reference}: ${why}`);
  const lead = had.map(({ text }) => text);
  if (first !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    const refused = refuse(work, { shown, watch }, `nothing was done: ${first}${more}`);
    return { ...refused, lines: [...lead, ...(refused.lines ?? [])] };
  }
  const fields = { ...evidenceJson(shown, watch), decided: [], nothing_needed: had };
  const lines = [...lead, '', ...linesOf(work, { shown, watch })];
  return { code: 0, lines, json: { shape: 'retry', fields } };
}

const liveOnly =
  'mode is live and --live was not said: the decision is recorded, nothing was sent; counterfoil submit --live sends it';

/** What came of sending. What stopped it before the first payout stops the command too. */
async function sentText(
  { context, app, options }: Work,
  { sent, decided }: Extract<RetryOutcome, { kind: 'decided' }>,
): Promise<SaidSent> {
  const { mode } = app.config;
  if (sent === null) return { kind: 'waits', why: options.wait === false ? '' : liveOnly };
  switch (sent.ended) {
    case 'drained':
    case 'interrupted':
      return { kind: 'sent' };
    case 'uncleared':
      throw new Stop(
        `${preflightText(sent.problem)}. The decision is recorded: ${submitCommand(mode)} sends it`,
        1,
      );
    case 'unreachable':
    case 'stuck': {
      return {
        kind: 'failed',
        why: `${stopReason(sent)}; what is left stays ready: ${submitCommand(mode)} sends it`,
      };
    }
    case 'not_started':
    case 'halted': {
      const terminal = terminalOf(context, app.config, app.clock.iso());
      const halted = await haltInWords(app.ledger.db);
      if (halted) return { kind: 'waits', why: `sending is halted ${haltText(halted, terminal)}` };
      const waits = await app.brakes.waits({ payouts: decided.map(({ id }) => id) });
      const why = waits.map((one) => waitingText(one, app.config, terminal)).join('; ');
      return why === '' ? { kind: 'sent' } : { kind: 'waits', why };
    }
  }
}
