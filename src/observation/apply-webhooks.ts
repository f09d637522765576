import { decimalToMinor } from '../domain/money.ts';
import type { Mode, WitnessStatus } from '../domain/payout.ts';
import { findWitness } from '../domain/witness.ts';
import { loadKnown } from '../ledger/expected.ts';
import { addInquiry } from '../ledger/inquiries.ts';
import type { Ledger, Trx } from '../ledger/open.ts';
import { record } from '../ledger/record.ts';
import type { Webhook } from '../ledger/tables.ts';
import {
  markApplied,
  payoutOfWebhook,
  payoutsLike,
  saidBefore,
  unappliedWebhooks,
} from '../ledger/webhooks.ts';
import type { Clock } from '../runtime/clock.ts';
import { asObject, asText, parseLossless } from '../service/json.ts';
import { applyCollection } from './apply-collection.ts';
import { askWhereHeaderDiffers } from './header-reference.ts';

export type ApplyDeps = { ledger: Ledger; clock: Clock; mode: Mode };

const chunk = 200;

/**
 * Applies stored webhooks to the payouts and collections they speak of, in chunks of one transaction each (P18). A webhook shows that
 * a transfer exists and raises the question that can make it final; it never settles anything itself (P14).
 * Returns how many were applied.
 */
export async function applyWebhooks(deps: ApplyDeps, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (;;) {
    const waiting = await unappliedWebhooks(deps.ledger.db, deps.mode, chunk);
    if (waiting.length === 0 || signal?.aborted) return total;
    await deps.ledger.write(async (trx) => {
      const at = deps.clock.iso();
      for (const webhook of waiting) {
        const applied = await applyOne(trx, webhook, at);
        await markApplied(trx, webhook.id, { at, ...applied });
        await askWhereHeaderDiffers(trx, webhook, applied.payoutId, at);
      }
    });
    total += waiting.length;
  }
}

async function applyOne(
  trx: Trx,
  webhook: Webhook,
  at: string,
): Promise<{ payoutId: bigint | null; collectionId?: bigint | null; effect: string }> {
  const json = parseLossless(Buffer.from(webhook.body).toString('utf8'));
  if (webhook.kind === 'transaction') return applyCollection(trx, webhook, { json, at });
  if (webhook.kind !== 'payout' || asObject(json) === undefined)
    return { payoutId: null, effect: 'not understood; kept' };
  const payoutId = await payoutOfWebhook(trx, webhook);
  if (payoutId === undefined) return { payoutId: null, effect: await askAboutLikely(trx, webhook, json, at) };
  const known = (await loadKnown(trx, [payoutId])).get(payoutId);
  if (!known) return { payoutId: null, effect: 'unmatched' };
  if (webhook.stale === 1n) {
    await ask(trx, payoutId, 'a webhook with a stale timestamp', at);
    return { payoutId, effect: 'stale: a reason to ask, not a witness' };
  }
  const finding = findWitness(json, known.expected, 'webhook');
  if (finding.kind === 'none') {
    await ask(trx, payoutId, 'a webhook without a status', at);
    return { payoutId, effect: 'no status in it' };
  }
  if (finding.kind === 'conflict') {
    await ask(trx, payoutId, 'a webhook that conflicts', at);
    return {
      payoutId,
      effect: `conflict: ${finding.fields.map((f) => `${f.field} is ${f.actual}, ours ${f.expected}`).join('; ')}`,
    };
  }
  const { witness } = finding;
  const [recorded] = await record(trx, at, [
    { payoutId, source: `webhook ${webhook.id}`, event: { kind: 'witness', witness } },
  ]);
  const final = recorded && ['success', 'failed', 'returned'].includes(recorded.to);
  if (!final || recorded.to !== witness.status)
    await ask(trx, payoutId, `a webhook says ${witness.status}`, at);
  if (recorded?.effect.kind === 'conflict') return { payoutId, effect: `conflict: ${recorded.effect.why}` };
  // P18: two final words about one transfer; what was success may come back, what failed does not.
  const other = witness.status === 'success' ? 'failed' : 'success';
  const contradicts = witness.status === 'success' || witness.status === 'failed';
  if (contradicts && (await saidBefore(trx, payoutId, says(other))))
    return { payoutId, effect: `conflict: a webhook says ${witness.status}, an earlier one said ${other}` };
  return { payoutId, effect: says(witness.status) };
}

function says(status: WitnessStatus): string {
  return `says ${status}`;
}

/** A webhook under a reference nobody knows may be the service's own name for one of ours: ask, never assume. */
async function askAboutLikely(trx: Trx, webhook: Webhook, json: unknown, at: string): Promise<string> {
  const fields = asObject(json);
  const [account, currency, amountText] = ['account_number', 'currency', 'amount'].map((key) =>
    asText(fields?.[key]),
  );
  const amount = amountText && currency ? decimalToMinor(amountText, currency) : null;
  if (!account || !currency || amount === null) return 'unmatched';
  const likely = await payoutsLike(trx, { mode: webhook.mode, accountNumber: account, currency, amount });
  for (const payoutId of likely) await ask(trx, payoutId, 'a webhook under another reference', at);
  return likely.length > 0 ? 'unmatched; asked about look-alikes' : 'unmatched';
}

async function ask(trx: Trx, payoutId: bigint, reason: string, at: string): Promise<void> {
  await addInquiry(trx, { payoutId, kind: 'details', reason, dueAt: at, rung: 0n });
}
