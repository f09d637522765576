import { type PayoutState, payoutStates } from '../domain/payout.ts';
import type { Case } from '../evidence/weigh.ts';
import { stateWords } from '../reporting/state-words.ts';
import { type Asking, askAbout, withService } from './ask-service.ts';
import { confirm } from './context.ts';
import { evidenceJson, evidenceLines, factsOf, watchOf } from './evidence-lines.ts';
import { noSuch } from './nearest-reference.ts';
import { person } from './person.ts';
import { remedyText } from './remedy-text.ts';
import { type Result, Stop } from './result.ts';
import { closing } from './terminal/closing.ts';
import { terminalOf } from './terminal/terminal.ts';
import { wrapAll } from './terminal/wrap.ts';
import type { Context, Handler } from './world.ts';

type Options = { as?: string; note?: string };
type Word = { as: 'success' | 'failed'; note: string };

const verdicts = { paid: 'success', 'not-paid': 'failed' } as const;
const named = { success: 'paid', failed: 'not paid' } as const;

/** What each verdict means for the ledger; printed before the question. */
const meanings = {
  success: 'as paid: it counts as paid on your decision, and is never sent again',
  failed:
    'as not paid: it counts as not paid on your decision, and nothing is sent. To pay it, use a new reference in a new file. If the service shows it later, it is reopened and reported',
} as const;

/** The states that the service is asked about. A payout that is being sent gets its answer from the request. */
const asked = payoutStates.filter((state) => state !== 'sending');

/**
 * `settle REFERENCE`: a person closes a payout that evidence has not made final; later evidence from the service reopens
 * it (P32). The service is asked first.
 */
export const settle: Handler = async (context, args, given) => {
  const word = readOptions(given);
  return withService(context, 'settle', true, (asking) => close(context, asking, args, word));
};

async function close(context: Context, asking: Asking, args: string[], word: Word): Promise<Result> {
  const { app } = asking;
  const { as, note } = word;
  await app.applyWebhooks(context.signal);
  const { payouts, missing } = await app.decisions.find(args);
  const [payout] = payouts;
  if (missing.length > 0 || !payout || payouts.length > 1)
    throw new Stop(await noSuch('payout', args.join(' '), app));
  const since = app.clock.iso();
  await askAbout(context, asking, [payout.id], asked);
  if (context.signal.aborted) throw new Stop('interrupted: nothing was settled', 1);
  const shown = await app.decisions.weigh([payout.id], since);
  const watch = watchOf(app);
  const terminal = terminalOf(context, app.config, watch.now);
  const [one] = shown.cases;
  if (!one) throw new Stop(`no payout "${args.join(' ')}" in this ledger (mode ${app.config.mode})`);
  const { reference, state } = one.payout;
  if (!one.remedies.includes('settle')) {
    const why = refusal(one, as);
    if (state !== as) throw new Stop(why);
    return { code: 0, lines: [why], json: { ...evidenceJson(shown, watch), reference, state } };
  }
  const facts = [
    ...factsOf(shown, terminal),
    ...wrapAll([...beside(one), `  settling   ${meanings[as]}`], terminal.width, 11),
    '',
  ];
  for (const line of facts) (context.options.json ? context.say : context.print)(line);
  await confirm(context, `Settle ${reference} as ${named[as]}?`);
  const order = { ids: [payout.id], since, digest: shown.digest, person: person(), as, note };
  const decision = await app.decisions.settle(order);
  if (decision.kind === 'changed') {
    const problem = 'the evidence changed; look again. Nothing was done';
    const json = { ...evidenceJson(decision.now, watch), error: problem };
    return { code: 2, problem, lines: evidenceLines(decision.now, { watch, terminal }), json };
  }
  await app.reporting.writeDueBatchResults();
  await app.reporting.writeIndex();
  const now = decision.decided[0]?.state ?? state;
  const lines = [
    `${reference}: ${stateWords[now]}, decided by ${order.person}.`,
    'Later evidence from the service reopens it.',
    ...closing({ Next: `counterfoil show ${reference}` }),
  ];
  return { code: 0, lines, json: { ...evidenceJson(shown, watch), reference, state: now, note } };
}

/** Returns why the payout is not settled, and what to do instead. */
function refusal(one: Case, as: PayoutState): string {
  const { reference, state, evidence } = one.payout;
  const help = remedyText(one);
  if (one.remedies.includes('wait')) return `${reference} is being sent right now. Nothing was done: ${help}`;
  const by = evidence === '' ? '' : ` by ${evidence}`;
  const nothing = state === as ? 'Nothing needs settling' : 'Nothing was done';
  return `${reference} is ${stateWords[state]}${by}, and nothing contradicts that. ${nothing}: ${help}`;
}

/** Returns a warning when the service contradicts the person now, so that they decide knowingly. */
function beside({ verdict }: Case): string[] {
  if (verdict !== 'pending') return [];
  return ['  WARNING    the service shows it pending now: while it does so, the next run opens it again'];
}

function readOptions({ as, note }: Options): Word {
  if (as !== 'paid' && as !== 'not-paid')
    throw new Stop(`--as: expected paid or not-paid, got "${as ?? ''}"`);
  const text = note?.trim() ?? '';
  if (text === '')
    throw new Stop('--note: say how we know, for example --note "bank statement of 3 May, line 12"');
  return { as: verdicts[as], note: text };
}
