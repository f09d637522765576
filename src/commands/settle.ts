import { type Context, confirm, withLocal } from './context.ts';
import { evidenceJson, evidenceLines, factsOf, type Watch } from './evidence.ts';
import { person } from './person.ts';
import { type Result, Stop } from './result.ts';

type Options = { as?: string; note?: string };

const verdicts = { paid: 'success', 'not-paid': 'failed' } as const;

/** What the ledger makes of each word; said before the question. */
const meanings = {
  success: 'as paid: it counts as paid on your word, and is never sent again',
  failed:
    'as not paid: it counts as not paid on your word, and nothing is sent. To pay it after all, use a new reference in a new file. Should the service show it later, that reopens it and is reported',
} as const;

/** `settle REFERENCE`: a person's word on an unknown payout; later evidence from the service reopens it (P19). */
export async function settle(
  context: Context,
  args: string[],
  given: Record<string, unknown>,
): Promise<Result> {
  const { as, note } = readOptions(given);
  return withLocal(context, async (app) => {
    await app.applyWebhooks(context.signal);
    const { payouts, missing } = await app.decisions.find(args);
    const [payout] = payouts;
    if (missing.length > 0 || !payout || payouts.length > 1)
      throw new Stop(2, `no payout "${args.join(' ')}" in this ledger (mode ${app.config.mode})`);
    const since = app.clock.iso();
    const shown = await app.decisions.weigh([payout.id], since);
    const watch: Watch = { now: since, quietPeriodMinutes: app.config.submission.quietPeriodMinutes };
    const { reference, state } = payout;
    if (state !== 'unknown')
      throw new Stop(2, `${reference} is ${state}: only an unknown can be settled. Nothing was done`);
    if (shown.cases.some(({ attempts }) => attempts.some(({ outcome }) => outcome === null)))
      throw new Stop(2, `${reference} is being sent right now; wait for its answer. Nothing was done`);
    for (const line of [...factsOf(shown), `  settling   ${meanings[as]}`, ''])
      (context.options.json ? context.say : context.print)(line);
    await confirm(context, `Settle ${reference} as ${as === 'success' ? 'paid' : 'not paid'}?`);
    const order = { ids: [payout.id], since, digest: shown.digest, person: person(), as, note };
    const decision = await app.decisions.settle(order);
    if (decision.kind === 'changed') {
      const problem = 'the evidence changed; look again. Nothing was done';
      const json = { ...evidenceJson(decision.now, watch), error: problem };
      return { code: 2, problem, lines: evidenceLines(decision.now, watch), json };
    }
    await app.reporting.writeDueBatchResults();
    await app.reporting.writeIndex();
    const now = decision.decided[0]?.state ?? state;
    const lines = [
      `${reference}: ${now} on the word of ${order.person}. Later evidence from the service reopens it.`,
    ];
    return { code: 0, lines, json: { ...evidenceJson(shown, watch), reference, state: now, note } };
  });
}

function readOptions({ as, note }: Options): { as: 'success' | 'failed'; note: string } {
  if (as !== 'paid' && as !== 'not-paid')
    throw new Stop(2, `--as: expected paid or not-paid, got "${as ?? ''}"`);
  const text = note?.trim() ?? '';
  if (text === '')
    throw new Stop(2, '--note: say how we know, for example --note "bank statement of 3 May, line 12"');
  return { as: verdicts[as], note: text };
}
