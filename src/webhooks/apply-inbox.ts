import { applyCollection } from '../collections/apply-collection.ts';
import { foldReference } from '../domain/ids.ts';
import { decimalToMinor } from '../domain/money.ts';
import type { Account, Origin } from '../domain/origin.ts';
import type { WitnessStatus } from '../domain/payout.ts';
import type { Witness } from '../domain/transition.ts';
import { type Expected, findWitness } from '../domain/witness.ts';
import { addInquiry, askDetails } from '../ledger/inquiries.ts';
import { loadKnown } from '../ledger/known.ts';
import { sentWithOtherKeys } from '../ledger/origins.ts';
import type { RecordEvent } from '../ledger/projection.ts';
import { type Recorded, record } from '../ledger/record.ts';
import type { Clock } from '../runtime/clock.ts';
import { asObject, asText, parseLossless } from '../service/json.ts';
import type { Ledger, Trx } from '../storage/ledger.ts';
import type { Webhook } from '../storage/tables/tables.ts';
import { askWhereHeaderDiffers } from './header-reference.ts';
import { differingReference } from './webhook-inbox.sql.ts';
import {
  effectsBefore,
  markAllApplied,
  markApplied,
  payoutOfWebhook,
  payoutsLike,
  payoutsOfReferences,
  reopenUnmatched,
  stillUnapplied,
  unappliedWebhooks,
} from './webhooks.sql.ts';

export type ApplyDeps = {
  ledger: Ledger;
  clock: Clock;
  /** The account whose keys verified them (P31); absent: everything was sent with these keys. */
  account?: Account | null;
};

/** Webhooks per transaction: it holds the event loop for some tens of milliseconds at most. */
const chunk = 100;

/**
 * Applies stored webhooks to their payouts and collections, in chunks of one transaction each (P18). A webhook shows
 * that a transfer exists and raises the question that can make it final. It never settles anything itself (P14).
 * Returns how many were applied.
 */
export async function applyWebhooks(deps: ApplyDeps, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (;;) {
    const waiting = await unappliedWebhooks(deps.ledger.db, chunk);
    if (waiting.length === 0 || signal?.aborted) return total;
    total += await deps.ledger.write(async (trx) => {
      // Another process may have applied them meanwhile; an old webhook applied again would contradict a newer one.
      const still = await stillUnapplied(trx, waiting);
      await applyChunk(trx, still, { at: deps.clock.iso(), account: deps.account ?? null });
      return still.length;
    });
    if (waiting.length < chunk) return total;
    // The ledger never waits for itself: without a pause, a backlog would block all other readers and writers.
    await deps.clock.sleep(1);
  }
}

/** The same, including webhooks that matched no payout and now match one, perhaps because of the listing. */
export async function applyWebhooksAgain(deps: ApplyDeps, signal?: AbortSignal): Promise<number> {
  await reopenUnmatched(deps.ledger);
  return applyWebhooks(deps, signal);
}

/** The time, ISO UTC, and the account whose keys verified the webhooks. */
type By = { at: string; account: Account | null };

/** A webhook about a payout of ours. */
type Placed = { webhook: Webhook; json: unknown; payoutId: bigint };

/** Has the effect of applying one after the other. Webhooks about different payouts go together: none affects another. */
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
          : { payoutId: null, effect: 'not understood; kept' };
      await markApplied(trx, webhook.id, { at, ...applied });
      continue;
    }
    const known = ofReference.get(foldReference(webhook.reference ?? ''));
    if (known === undefined || together.has(known)) await flush();
    // By its trx, which a webhook applied just now may have made known.
    const payoutId = known ?? (await payoutOfWebhook(trx, webhook));
    if (payoutId === undefined) {
      const effect = await askAboutLikely(trx, json, at);
      await markApplied(trx, webhook.id, { at, payoutId: null, effect });
    } else {
      together.set(payoutId, { webhook, json, payoutId });
    }
    if (differingReference(webhook) === null) continue;
    await flush();
    await askWhereHeaderDiffers(trx, webhook, payoutId ?? null, at);
  }
  await flush();
}

type Judged =
  | { kind: 'witness'; witness: Witness }
  /** No evidence; `why` is the reason for the question to the service. */
  | { kind: 'question'; why: string; effect: string };

/** Applies webhooks about payouts, at most one for each payout. */
async function applyPlaced(trx: Trx, placed: readonly Placed[], { at, account }: By): Promise<void> {
  if (placed.length === 0) return;
  const ids = placed.map(({ payoutId }) => payoutId);
  const known = await loadKnown(trx, ids);
  const elsewhere = account ? await sentWithOtherKeys(trx, ids, account) : new Map<bigint, Origin>();
  const judged = placed.flatMap((one) => {
    const ours = known.get(one.payoutId);
    if (!ours) return [];
    const isOthers = elsewhere.has(one.payoutId);
    return [{ ...one, judged: isOthers ? ofAnotherAccount : whatItSays(one, ours.expected) }];
  });
  const events = judged.flatMap(({ webhook, payoutId, judged: one }): RecordEvent[] =>
    one.kind === 'witness' ? [{ payoutId, source: `webhook ${webhook.id}`, event: one }] : [],
  );
  const recorded = new Map((await record(trx, at, events)).map((one) => [one.payoutId, one]));
  const before = await effectsBefore(trx, ids, [says('success'), says('failed')]);
  const questions: { payoutId: bigint; reason: string }[] = [];
  const applied: { id: bigint; payoutId: bigint; effect: string }[] = [];
  for (const { webhook, payoutId, judged: one } of judged) {
    const ask = (reason: string): void => void questions.push({ payoutId, reason });
    const effect =
      one.kind === 'question'
        ? one.effect
        : effectOf(one.witness.status, recorded.get(payoutId), before.get(payoutId));
    if (one.kind === 'question') ask(one.why);
    else if (!isSettledAs(one.witness.status, recorded.get(payoutId)))
      ask(`a webhook says ${one.witness.status}`);
    applied.push({ id: webhook.id, payoutId, effect });
  }
  await askDetails(
    trx,
    questions.map(({ payoutId, reason }) => ({ payout_id: payoutId, reason, due_at: at })),
  );
  await markAllApplied(trx, at, applied);
}

/** P31: it is signed with a key that the payout was not sent with, so it may concern another account's transfer. */
const ofAnotherAccount: Judged = {
  kind: 'question',
  why: 'a webhook signed with another key',
  effect: 'signed with another key than it was sent with: a reason to ask, not a witness',
};

/** Read by {@link contradictedByWebhook}: a failure is no sign that the payout was paid. */
const staleFailure = 'stale: says failed; a reason to ask, not a witness';

function whatItSays({ webhook, json }: Placed, expected: Expected): Judged {
  const finding = findWitness(json, expected, 'webhook');
  if (webhook.stale === 1n) {
    const saysFailed = finding.kind === 'witness' && finding.witness.status === 'failed';
    return {
      kind: 'question',
      why: 'a webhook with a stale timestamp',
      effect: saysFailed ? staleFailure : 'stale: a reason to ask, not a witness',
    };
  }
  switch (finding.kind) {
    case 'witness':
      return finding;
    case 'none':
      return { kind: 'question', why: 'a webhook without a status', effect: 'no status in it' };
    case 'conflict': {
      const fields = finding.fields.map((f) => `${f.field} is ${f.actual}, ours ${f.expected}`).join('; ');
      return { kind: 'question', why: 'a webhook that conflicts', effect: `conflict: ${fields}` };
    }
  }
}

/** True when the payout has ended as the webhook says: there is nothing to ask. */
function isSettledAs(status: WitnessStatus, recorded: Recorded | undefined): boolean {
  return recorded?.to === status && status !== 'pending';
}

/** P18: two final words about one transfer conflict. A success may be returned later; a failure never becomes a success. */
function effectOf(
  status: WitnessStatus,
  recorded: Recorded | undefined,
  before: ReadonlySet<string> = new Set(),
): string {
  if (recorded?.effect.kind === 'conflict') return `conflict: ${recorded.effect.why}`;
  const other = status === 'success' ? 'failed' : 'success';
  const contradicts = (status === 'success' || status === 'failed') && before.has(says(other));
  return contradicts ? `conflict: a webhook says ${status}, an earlier one said ${other}` : says(status);
}

function says(status: WitnessStatus): string {
  return `says ${status}`;
}

/** A webhook under an unknown reference may use the service's own name for a payout of ours: ask, never assume. */
async function askAboutLikely(trx: Trx, json: unknown, at: string): Promise<string> {
  const fields = asObject(json);
  const [account, code, amountText] = ['account_number', 'currency', 'amount'].map((key) =>
    asText(fields?.[key]),
  );
  const currency = code?.toUpperCase();
  const amount = amountText && currency ? decimalToMinor(amountText, currency) : null;
  if (!account || !currency || amount === null) return 'unmatched';
  const likely = await payoutsLike(trx, { accountNumber: account, currency, amount });
  for (const payoutId of likely) await ask(trx, payoutId, 'a webhook under another reference', at);
  return likely.length > 0 ? 'unmatched; asked about look-alikes' : 'unmatched';
}

async function ask(trx: Trx, payoutId: bigint, reason: string, at: string): Promise<void> {
  await addInquiry(trx, { payoutId, kind: 'details', reason, dueAt: at, rung: 0n });
}
