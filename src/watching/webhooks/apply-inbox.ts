import type { Contradiction } from '../../core/domain/contradiction.ts';
import { foldReference } from '../../core/domain/ids.ts';
import type { InquiryReason } from '../../core/domain/inquiry-reason.ts';
import { decimalToMinor } from '../../core/domain/money.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import type { WitnessStatus } from '../../core/domain/payout.ts';
import { readTraceparent, type Traces } from '../../core/domain/trace.ts';
import { type ExpectedTransfer, findWitness, type Witness } from '../../core/domain/witness.ts';
import { columnsOf, onlySaid } from '../../core/ledger/contradiction-columns.ts';
import { addInquiry, askDetails } from '../../core/ledger/inquiries.ts';
import { loadKnown } from '../../core/ledger/known.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { type Recorded, record } from '../../core/ledger/record.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import { asObject, asText, parseLossless } from '../../core/service/json.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import type { WebhookOutcome } from '../../core/storage/tables/said-columns.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import { applyCollection } from '../collections/apply-collection.ts';
import { differingReference } from './webhook-inbox.sql.ts';
import {
  type Applied,
  applyAgain,
  markAllApplied,
  markApplied,
  ofOtherKeys,
  payoutOfWebhook,
  payoutsLike,
  payoutsOfReferences,
  saidBefore,
  stillUnapplied,
  unappliedWebhooks,
} from './webhooks.sql.ts';

export type ApplyDeps = {
  ledger: Ledger;
  clock: Clock;
  /** The account of this process (P31); absent: everything was sent with its keys. */
  account?: ServiceAccount | null;
  /** Where each applied webhook becomes a span; absent: nowhere. */
  traces?: Traces;
};

/** How many one transaction takes: it holds the event loop for some tens of milliseconds at most. */
const chunk = 100;

/**
 * Applies stored webhooks to the payouts and collections they speak of, in chunks of one transaction each (P18). A webhook shows that
 * a transfer exists and raises the question that can make it final; it never settles anything itself (P14).
 * Returns how many were applied.
 */
export async function applyWebhooks(deps: ApplyDeps, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (;;) {
    const waiting = await unappliedWebhooks(deps.ledger.db, chunk);
    if (waiting.length === 0 || signal?.aborted) return total;
    const startedAt = deps.clock.now();
    const applied = await deps.ledger.write(async (trx) => {
      // Another process may have applied them meanwhile: an old webhook applied again would contradict a newer one.
      const still = await stillUnapplied(trx, waiting);
      await applyChunk(trx, still, { at: deps.clock.iso(), account: deps.account ?? null });
      return still;
    });
    total += applied.length;
    if (deps.traces?.isOn) traceApplied(deps.traces, applied, startedAt);
    if (waiting.length < chunk) return total;
    // The ledger never waits for itself: without this, a backlog would keep everybody else from reading and writing.
    await deps.clock.sleep(1);
  }
}

/** Applies stored webhooks, also those that say more now: of a payout that has become known since, or of this account. */
export async function applyWebhooksAgain(deps: ApplyDeps, signal?: AbortSignal): Promise<number> {
  await applyAgain(deps.ledger, deps.account ?? null);
  return applyWebhooks(deps, signal);
}

/** Notes applied webhooks in the traces of what they name, each linked to the request that brought it. */
function traceApplied(traces: Traces, webhooks: readonly Webhook[], startedAt: number): void {
  for (const { kind, reference, headers } of webhooks) {
    if (reference === null || kind === 'unknown') continue;
    const about = { kind: kind === 'payout' ? kind : 'collection', name: reference } as const;
    const parent = readTraceparent(asText(asObject(parseLossless(headers))?.traceparent) ?? undefined);
    traces.begin({ name: 'webhook applied', about, parent, startedAt, fields: { reference } }).end();
  }
}

/** When it is, ISO UTC, and the account of this process. */
type By = { at: string; account: ServiceAccount | null };

/** A webhook about a payout of ours. */
type Placed = { webhook: Webhook; json: unknown; payoutId: bigint };

/**
 * As if one after the other: those about different payouts go together, since none of them can change what another
 * meets.
 */
async function applyChunk(trx: Trx, webhooks: readonly Webhook[], by: By): Promise<void> {
  const { at } = by;
  const ofReference = await payoutsOfReferences(trx, webhooks);
  let together = new Map<bigint, Placed>();
  const flush = async (): Promise<void> => {
    const placed = [...together.values()];
    together = new Map();
    await applyPlaced(trx, placed, by);
  };
  for (const webhook of webhooks) {
    const json = parseLossless(Buffer.from(webhook.body).toString('utf8'));
    if (webhook.kind !== 'payout' || asObject(json) === undefined) {
      const applied =
        webhook.kind === 'transaction'
          ? await applyCollection(trx, webhook, { json, at })
          : { verdict: 'not_understood' as const };
      await markApplied(trx, webhook.id, { at, ...applied });
      continue;
    }
    const known = ofReference.get(foldReference(webhook.reference ?? ''));
    if (known === undefined || together.has(known)) await flush();
    // By its trx: one that was applied just now may have made that known.
    const payoutId = known ?? (await payoutOfWebhook(trx, webhook));
    if (payoutId === undefined) {
      await markApplied(trx, webhook.id, { at, verdict: await askAboutLikely(trx, json, at) });
    } else {
      together.set(payoutId, { webhook, json, payoutId });
    }
    if (differingReference(webhook) === null) continue;
    await flush();
    await askWhereHeaderDiffers(trx, webhook, payoutId ?? null, at);
  }
  await flush();
}

type Said =
  | { kind: 'witness'; witness: Witness }
  /** Nothing to go by; `why` the service is asked. */
  | { kind: 'question'; why: InquiryReason; applied: Applied };

/** Applies webhooks about payouts, each about another one. */
async function applyPlaced(trx: Trx, placed: readonly Placed[], { at, account }: By): Promise<void> {
  if (placed.length === 0) return;
  const ids = placed.map(({ payoutId }) => payoutId);
  const known = await loadKnown(trx, ids);
  const others = new Set(account ? await ofOtherKeys(trx, placed, account) : []);
  const said = placed.flatMap((one) => {
    const ours = known.get(one.payoutId);
    if (!ours) return [];
    return [{ ...one, said: others.has(one) ? ofAnotherAccount : whatItSays(one, ours.expected) }];
  });
  const events = said.flatMap(({ webhook, payoutId, said: one }): RecordEvent[] =>
    one.kind === 'witness' ? [{ payoutId, source: `webhook ${webhook.id}`, event: one }] : [],
  );
  const recorded = new Map((await record(trx, at, events)).map((one) => [one.payoutId, one]));
  const before = await saidBefore(trx, ids);
  const asked: { payoutId: bigint; reason: InquiryReason }[] = [];
  const applied: (Applied & { id: bigint; payoutId: bigint })[] = [];
  for (const { webhook, payoutId, said: one } of said) {
    const ask = (reason: InquiryReason): void => void asked.push({ payoutId, reason });
    const found =
      one.kind === 'question'
        ? one.applied
        : appliedAs(one.witness.status, recorded.get(payoutId), before.get(payoutId));
    if (one.kind === 'question') ask(one.why);
    else if (!isSettledAs(one.witness.status, recorded.get(payoutId))) ask('webhook_says');
    applied.push({ id: webhook.id, payoutId, ...found });
  }
  await askDetails(
    trx,
    asked.map(({ payoutId, reason }) => ({ payout_id: payoutId, reason, due_at: at })),
  );
  await markAllApplied(trx, at, applied);
}

/** P31: signed with a key that the payout was not sent with, it may be about another account's transfer. */
const ofAnotherAccount: Said = {
  kind: 'question',
  why: 'webhook_other_key',
  applied: { verdict: 'other_key' },
};

function whatItSays({ webhook, json }: Placed, expected: ExpectedTransfer): Said {
  const finding = findWitness(json, expected, 'webhook');
  if (webhook.stale === 1n) {
    const word = onlySaid(finding.kind === 'witness' ? finding.witness.status : null);
    return {
      kind: 'question',
      why: 'webhook_stale',
      applied: { verdict: 'stale', word },
    };
  }
  switch (finding.kind) {
    case 'witness':
      return finding;
    case 'none':
      return { kind: 'question', why: 'webhook_without_status', applied: { verdict: 'no_status' } };
    case 'conflict': {
      const applied = against({ kind: 'differs', differences: finding.fields });
      return { kind: 'question', why: 'webhook_conflicts', applied };
    }
  }
}

/** True when the payout has ended as the webhook says: there is nothing to ask. */
function isSettledAs(status: WitnessStatus, recorded: Recorded | undefined): boolean {
  return recorded?.to === status && status !== 'pending';
}

/** P18: two final statuses of one transfer conflict. A success may still come back; a failure may not. */
function appliedAs(
  said: WitnessStatus,
  recorded: Recorded | undefined,
  before: ReadonlySet<WitnessStatus> = new Set(),
): Applied {
  if (recorded?.effect.kind === 'conflict')
    return against({ kind: 'against_ledger', source: 'webhook', said, state: recorded.from });
  const isFinal = said === 'success' || said === 'failed';
  if (isFinal && before.has(said === 'success' ? 'failed' : 'success'))
    return against({ kind: 'against_webhook', said });
  return { verdict: 'says', word: onlySaid(said) };
}

function against(one: Contradiction): Applied {
  return { verdict: one.kind, word: columnsOf(one) };
}

/** A webhook under an unknown reference may use the service's own name for one of our payouts: ask, never assume. */
async function askAboutLikely(trx: Trx, json: unknown, at: string): Promise<WebhookOutcome> {
  const fields = asObject(json);
  const [account, code, amountText] = ['account_number', 'currency', 'amount'].map((key) =>
    asText(fields?.[key]),
  );
  const currency = code?.toUpperCase();
  const amount = amountText && currency ? decimalToMinor(amountText, currency) : null;
  if (!account || !currency || amount === null) return 'unmatched';
  const likely = await payoutsLike(trx, { accountNumber: account, currency, amount });
  for (const payoutId of likely) await ask(trx, payoutId, 'webhook_alike', at);
  return likely.length > 0 ? 'look_alikes' : 'unmatched';
}

async function ask(trx: Trx, payoutId: bigint, reason: InquiryReason, at: string): Promise<void> {
  await addInquiry(trx, { payoutId, reason, dueAt: at, rung: 0n });
}

/**
 * Schedules look-ups of the webhook's payout and of the one that its X-Webhook-Reference names instead. The header is
 * outside the signature: it is a reason to ask, never a witness and never a refusal.
 */
async function askWhereHeaderDiffers(
  trx: Trx,
  webhook: Webhook,
  payoutId: bigint | null,
  at: string,
): Promise<void> {
  const named = webhook.kind === 'payout' ? differingReference(webhook) : null;
  if (named === null) return;
  const other = await payoutOfWebhook(trx, { ...webhook, reference: named, trx: null });
  const reason = 'webhook_header' as const;
  for (const id of new Set([payoutId, other ?? null]))
    if (id !== null) await addInquiry(trx, { payoutId: id, reason, dueAt: at, rung: 0n });
}
