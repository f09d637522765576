import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { getBatch } from '../../../core/ledger/batches.ts';
import type { Batch, Payout } from '../../../core/storage/tables/tables.ts';
import { type CancelOutcome, cancelVerb } from '../../../verbs/cancel.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { stateWords } from '../../../words/state-words.ts';
import { cancelJson } from '../../json/order-json.ts';
import { confirm } from '../context/context.ts';
import { findNamedBatch, nearestBatch, refuseLoading } from '../context/named-batch.ts';
import { nearestReference } from '../context/nearest-reference.ts';
import { orderer, stopFor } from '../context/person.ts';
import { didYouMean, type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { remedyText } from '../kit/remedy-text.ts';
import { payoutsText } from './batch-lines.ts';

type Target = { batch: Batch; payout: Payout | undefined };

/** `cancel BATCH|REFERENCE`: cancels what was never sent. Leaves the rest alone and counts it (P21). */
export async function cancel(context: Context, args: string[]): Promise<Result> {
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const { batch, payout } = await find(app, args[0] ?? '');
    refuseLoading(batch);
    const name = payout ? `payout ${payout.reference}` : `batch ${batch.id}`;
    await confirm(context, `Cancel what was never sent of ${name}? It cannot be undone.`);
    const order = payout ? { reference: payout.reference } : { batch: batch.id };
    const done = await cancelVerb.run(app, order, orderer(context));
    if (done.kind === 'refused') throw stopFor(done);
    const told = done.kind === 'payout' ? describePayout(done) : describeBatch(done);
    const next = payout ? `counterfoil show ${payout.reference}` : 'counterfoil status';
    return {
      ...told,
      isNews: true,
      screen: { blocks: [told.lines ?? []], end: told.lines ? { Next: next } : {} },
    };
  });
}

async function find(app: App<'local'>, name: string): Promise<Target> {
  const { mode } = app.config;
  const batch = await getBatch(app.ledger.db, name);
  const [payout] = (await app.decisions.find([name])).payouts;
  if (batch && payout)
    throw new Stop(
      `"${name}" is both a batch and a payout of ${payout.batch_id}: cancel its payouts by reference`,
    );
  if (batch) return { batch, payout: undefined };
  const own = payout && (await getBatch(app.ledger.db, payout.batch_id));
  if (own) return { batch: own, payout };
  // A reference is named in full, so a prefix means a batch.
  const begun = await findNamedBatch(app, name);
  if (begun) return { batch: begun, payout: undefined };
  const meant = (await nearestBatch(app, name)) ?? (await nearestReference(app, name));
  throw new Stop(
    `no batch and no payout "${name}" in this ledger (mode ${mode})${didYouMean(meant, ': counterfoil batches lists them')}`,
  );
}

type Of<K extends CancelOutcome['kind']> = Extract<CancelOutcome, { kind: K }>;
type Done = CancelOutcome['done'];

function describeBatch(order: Of<'batch'>): Result {
  const { batch, state, underWay, done } = order;
  const { cancelled, withdrawn, listed } = done;
  const lines = [
    `${batch}: ${state}; ${counted(cancelled, 'payout')} cancelled.`,
    `  Sending now: ${underWay.sending ?? 0}; already sent: ${payoutsText({ ...underWay, sending: 0 })}.`,
    ...withdrawnLines(withdrawn),
    ...listedLines(done),
  ];
  return {
    code: withdrawn + listed > 0 ? 4 : 0,
    lines,
    json: { shape: 'cancel', fields: cancelJson(order) },
  };
}

function describePayout(order: Of<'payout'>): Result {
  const { reference, state, done, cases } = order;
  const { cancelled, withdrawn, why } = done;
  const json = { shape: 'cancel', fields: cancelJson(order) } as const;
  if (cancelled > 0) return { code: 0, lines: [`${reference}: cancelled`], json };
  const help = cases.map(remedyText).join('; ');
  if (withdrawn > 0)
    return { code: 4, lines: [`the retry of ${reference} is cancelled: ${unknownAgain}. ${help}`], json };
  if (why !== null)
    return { code: 2, problem: `${reference} is not cancelled: ${reasonText(why)}. ${help}`, json };
  const only = 'only what was never sent can be cancelled';
  return { code: 2, problem: `${reference} is ${stateWords[state]}: ${only}. ${help}`, json };
}

const unknownAgain = 'it is unknown again, since an earlier attempt may have been taken';

function listedLines({ listed, why }: Done): string[] {
  if (why === null) return [];
  return [
    `${listed} not cancelled, since they may have been sent; counterfoil settle closes each; the first: ${reasonText(why)}`,
  ];
}

function withdrawnLines(withdrawn: number): string[] {
  if (withdrawn === 0) return [];
  return [
    `${withdrawn === 1 ? 'The retry of one payout is' : `The retries of ${withdrawn} payouts are`} cancelled. ${withdrawn === 1 ? 'It is' : 'They are'} unknown again, since an earlier attempt may have been taken; counterfoil settle REFERENCE --as paid|not-paid --note "how you know" closes one`,
  ];
}
