import type { App } from '../../../app/app.ts';
import { mostPayouts } from '../../../verbs/retry.ts';
import { askedBeforeSettling, settleVerb } from '../../../verbs/settle.ts';
import { evidenceDigest, type WeighedCase } from '../../../watching/evidence/weigh.ts';
import { watchOf } from '../../json/evidence-json.ts';
import { type Asking, askAbout, withService } from '../context/ask-service.ts';
import { confirm } from '../context/context.ts';
import { noSuch } from '../context/nearest-reference.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import type { Context, Handler } from '../context/world.ts';
import { readFilter } from '../discrepancies/discrepancy-filter.ts';
import { terminalOf } from '../kit/terminal.ts';
import {
  before,
  type Left,
  nothingSettled,
  refusal,
  type SettleOrder,
  settledResult,
  settleQuestion,
} from './settle-lines.ts';

type Options = { as?: string; note?: string; batch?: string; kind?: string };

const verdicts = { paid: 'success', 'not-paid': 'failed' } as const;

/**
 * `settle REFERENCE…`: a person closes payouts that evidence has not made final; later evidence from the service reopens
 * them (P32). The service is asked first. Each payout is judged and recorded alone.
 */
export const settle: Handler = async (context, args, given) => {
  const order = readOptions(given);
  return withService(context, 'settle', true, (asking) => close(context, asking, args, order));
};

async function close(context: Context, asking: Asking, args: string[], order: SettleOrder): Promise<Result> {
  const { app } = asking;
  await app.applyWebhooks(context.signal);
  const ids = await chosen(app, args, order);
  const since = app.clock.iso();
  await askAbout(context, asking, ids, askedBeforeSettling);
  if (context.signal.aborted) throw new Stop('interrupted: nothing was settled', 1);
  const shown = await app.decisions.weigh(ids, since);
  const watch = watchOf(app);
  const terminal = terminalOf(context, app.config, watch.now);
  const { open, left } = sorted(shown.cases, order);
  const seen = { shown, watch, terminal, open };
  if (open.length === 0) return nothingSettled(seen, left);
  for (const line of before(seen, left, order)) (context.options.json ? context.say : context.print)(line);
  await confirm(context, settleQuestion(open, order));
  const { as, note } = order;
  const payouts = open.map((one) => ({ reference: one.payout.reference, digest: evidenceDigest([one]) }));
  const person = orderer(context);
  const done = await settleVerb.run(app, { payouts, as, note, since }, person);
  if (done.kind === 'refused') throw stopFor(done);
  const { settled } = done;
  const why = 'the evidence changed; look again. Nothing was done';
  left.push(...done.changed.map((one) => ({ ...one, why, isDone: false })));
  return settledResult({ ...seen, settled, left, person: person.name, order });
}

/** The payouts that are named, or those that an open discrepancy of the filters is about. A wrong name stops it all. */
async function chosen(app: App<'local'>, args: string[], options: SettleOrder): Promise<bigint[]> {
  const filter = await readFilter(app, options.filters);
  const hasFilter = Object.keys(filter).length > 0;
  if (args.length > 0 && hasFilter) throw new Stop('name references or filters (--batch, --kind), not both');
  if (args.length === 0 && !hasFilter)
    throw new Stop('name references, or narrow with --batch or --kind. Nothing was settled');
  if (hasFilter) {
    const ids = await app.decisions.findDiscrepant(filter);
    if (ids.length === 0) throw new Stop('no payout has an open discrepancy that these filters find');
    return few(ids);
  }
  const { payouts, missing } = await app.decisions.find(args);
  if (missing.length > 0) throw new Stop(await noSuch('payout', missing.join(' '), app));
  return few(payouts.map(({ id }) => id));
}

function few(ids: bigint[]): bigint[] {
  if (ids.length > mostPayouts)
    throw new Stop(`settle at most ${mostPayouts} payouts at once; these are ${ids.length}`);
  return ids;
}

/** Each payout is judged alone: what may be settled, and what may not, and why. */
function sorted(cases: readonly WeighedCase[], { as }: SettleOrder): { open: WeighedCase[]; left: Left[] } {
  const isOpen = ({ remedies }: WeighedCase): boolean => remedies.includes('settle');
  const left = cases
    .filter((one) => !isOpen(one))
    .map((one) => ({
      ...{ reference: one.payout.reference, state: one.payout.state },
      ...{ why: refusal(one, as), isDone: one.payout.state === as },
    }));
  return { open: cases.filter(isOpen), left };
}

function readOptions({ as, note, batch, kind }: Options): SettleOrder {
  if (as !== 'paid' && as !== 'not-paid')
    throw new Stop(`--as: expected paid or not-paid, got "${as ?? ''}"`);
  const text = note?.trim() ?? '';
  if (text === '')
    throw new Stop('--note: say how we know, for example --note "bank statement of 3 May, line 12"');
  return {
    as: verdicts[as],
    note: text,
    filters: { ...(batch !== undefined && { batch }), ...(kind !== undefined && { kind }) },
  };
}
