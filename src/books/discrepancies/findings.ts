import { type Contradiction, contradictionText } from '../../core/domain/contradiction.ts';
import {
  type AdviceFacts,
  decimalDifference,
  type FoundDiscrepancy,
  type FoundFields,
  finding,
} from '../../core/domain/discrepancy.ts';
import type { DiscrepancyKind } from '../../core/domain/discrepancy-kinds.ts';
import { otherFees } from '../../core/domain/fees.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { type ConflictIdentity, misplaced } from '../../core/domain/pair-conflicts.ts';
import { isFinalState } from '../../core/domain/payout.ts';
import { later } from '../../core/domain/wait.ts';
import { contradictionIn } from '../../core/ledger/contradiction-columns.ts';
import type { ConflictingWebhook } from '../../watching/evidence/conflicting-webhooks.sql.ts';
import type { Contradicted } from '../../watching/evidence/contradicted.sql.ts';
import type { Overturned } from './overturned.sql.ts';
import type { WatchedPayout } from './watched.sql.ts';

/** A payout the complete listing lacks and a look-up of this run did not find. */
export function missing(payout: WatchedPayout, cut: string): FoundDiscrepancy {
  return finding('missing_at_service', payout.reference, {
    ...payoutFields(payout),
    expected: `${payout.state} ${amountOf(payout)}`,
    actual: 'not listed, not found',
    difference: payout.state === 'failed' ? '' : `-${amountOf(payout)}`,
    moved: payout.state !== 'failed',
    evidence: `a listing proven whole up to ${cut} lacks it and its details look-up did not find it; sent ${payout.submitted_at ?? 'at an unknown time'}; ledger: ${payout.state} by ${payout.evidence || 'nothing'}`,
  });
}

/**
 * An unknown that this run's listing and look-ups did not resolve; a person decides once its quiet period is over
 * (P19).
 */
export function unknown(
  payout: WatchedPayout,
  quiet: { since: string; minutes: number; now: string },
): FoundDiscrepancy {
  const until = later(quiet.since, quiet.minutes * 60_000);
  const isOver = quiet.now >= until;
  const fields: FoundFields = {
    ...payoutFields(payout),
    expected: amountOf(payout),
    actual: 'unknown',
    difference: '',
    moved: isOver,
    evidence: `unknown since ${quiet.since}: ${payout.message ?? 'no answer'}`,
  };
  return finding('unknown_outcome', payout.reference, fields, { watched: { until, isOver } });
}

/** Pending for longer than `stale_pending_hours`; `elsewhere`: the account that is asked cannot say more (P31). */
export function stale(payout: WatchedPayout, elsewhere?: AdviceFacts['elsewhere']): FoundDiscrepancy {
  const fields: FoundFields = {
    ...payoutFields(payout),
    expected: 'success or failed',
    actual: 'pending',
    difference: '',
    moved: false,
    evidence: `submitted ${payout.submitted_at}, pending by ${payout.evidence}`,
  };
  return finding('stale_pending', payout.reference, fields, elsewhere ? { elsewhere } : {});
}

/** Final for longer than `webhook_grace_minutes`, and no authentic webhook received. */
export function unheard(payout: WatchedPayout): FoundDiscrepancy {
  return finding('webhook_missing', payout.reference, {
    ...payoutFields(payout),
    expected: 'a webhook',
    actual: 'none heard',
    difference: '',
    moved: false,
    evidence: `${payout.state} since ${payout.final_at} by ${payout.evidence}`,
  });
}

/** Was success, then reversed or refunded. */
export function returned(payout: WatchedPayout): FoundDiscrepancy {
  return finding('returned_after_success', payout.reference, {
    ...payoutFields(payout),
    expected: 'success',
    actual: 'returned',
    difference: `-${amountOf(payout)}`,
    moved: false,
    evidence: `returned since ${payout.final_at} by ${payout.evidence}`,
  });
}

/** Two sources name different fees: the first one's, and what the others name instead. */
export function feesDiffer(payout: WatchedPayout): FoundDiscrepancy {
  const others = otherFees(payout);
  const first = payout.fee ?? '';
  return finding('fee_conflict', payout.reference, {
    ...payoutFields(payout),
    expected: first,
    actual: [...new Set(others.map(({ fee }) => fee))].join(', '),
    difference: decimalDifference(others[0]?.fee ?? '', first),
    moved: false,
    evidence: [
      `${payout.fee_by ?? 'the first'} said ${first}`,
      ...others.map(({ source, fee }) => `${source} says ${fee}`),
    ].join('; '),
  });
}

/** Paid itself, and paid again by its successor (P20). */
export function foundPaidAgain(payout: WatchedPayout): FoundDiscrepancy {
  const by = payout.evidence || 'nothing';
  const paid =
    payout.state === 'success'
      ? `success since ${payout.final_at} by ${by}`
      : `the service shows it as paid, the ledger as ${payout.state} by ${by}`;
  // Not the subject of two transfers under one reference: each is found, and closes, by itself.
  return finding('paid_twice', `successor:${payout.reference}`, {
    ...payoutFields(payout),
    expected: '1 payment',
    actual: 'success, and a successor sent',
    difference: amountOf(payout),
    moved: true,
    evidence: `${paid}, after a successor was made of it`,
  });
}

/** A payout whose details contradict the ledger although this run's list does not (P14, P15). */
export function foundByDetails(payout: Contradicted): FoundDiscrepancy {
  const { contradiction } = payout;
  const isStatus = contradiction.kind === 'against_ledger' && isFinalState(contradiction.state);
  const fields = isStatus
    ? { expected: contradiction.state, actual: contradiction.said, difference: '' }
    : toldBy(contradiction, payout.state);
  return finding(isStatus ? 'status_conflict' : kindOf(payout), payout.reference, {
    ...payoutFields(payout),
    ...fields,
    moved: true,
    evidence: `a details look-up answered at ${payout.answered_at ?? 'an unknown time'} contradicts the ledger: ${payout.state} by ${payout.evidence || 'nothing'}`,
  });
}

const kindsOfFields: Record<string, DiscrepancyKind> = {
  amount: 'amount_conflict',
  currency: 'currency_conflict',
  account_number: 'beneficiary_conflict',
  bank_code: 'beneficiary_conflict',
  domain: 'mode_conflict',
  origin: 'reference_collision',
  status: 'status_conflict',
};

/** Without an answer that accepted the payout, it is not known that the transfer is ours (P15). */
function kindOf({ accepted, contradiction }: Contradicted): DiscrepancyKind {
  const field = contradiction.kind === 'differs' ? (contradiction.differences[0]?.field ?? '') : '';
  return accepted ? (kindsOfFields[field] ?? 'status_conflict') : 'reference_collision';
}

/** How many different webhooks of a payout are quoted; there may be any number. */
const mostQuoted = 5;

/** Webhooks of one payout that contradict what is known (P18), the oldest first; or one webhook of no payout. */
export function foundWebhookConflicts(webhooks: readonly ConflictingWebhook[]): FoundDiscrepancy[] {
  const webhook = webhooks.at(-1);
  if (!webhook) return [];
  if (isPaidThenFailed(webhooks)) return [cameBack(webhooks, webhook)];
  const told = distinctWords(webhooks);
  const quoted = told.slice(-mostQuoted);
  const left = told.length > quoted.length ? `${told.length - quoted.length} others, then ` : '';
  const expected = [...new Set(quoted.map((one) => one.expected))].join(', then ');
  const actual = left + quoted.map((one) => one.actual).join(', then ');
  const found = finding('webhook_conflict', webhook.reference ?? `webhook:${webhook.digest.slice(0, 12)}`, {
    ...webhookFields(webhook),
    expected,
    actual,
    difference: told.at(-1)?.difference ?? '',
    moved: false,
    evidence: webhooks
      .map((one) => `webhook received ${one.received_at}`)
      .slice(-mostQuoted)
      .join(', '),
  });
  return [found];
}

/**
 * Webhooks said paid first and failed last, and the payout has failed: it was paid and came back before the list or the
 * details were read. Nothing contradicts anything.
 */
function isPaidThenFailed(webhooks: readonly ConflictingWebhook[]): boolean {
  if (webhooks.at(-1)?.state !== 'failed' || webhooks.some(({ verdict }) => verdict === 'differs'))
    return false;
  const said = webhooks.map((one) => one.said);
  return said.includes('success') && said.lastIndexOf('success') < said.indexOf('failed');
}

function cameBack(webhooks: readonly ConflictingWebhook[], last: ConflictingWebhook): FoundDiscrepancy {
  return finding('returned_after_success', last.reference ?? '', {
    ...webhookFields(last),
    expected: 'success',
    actual: 'paid, then returned',
    difference: '',
    moved: false,
    evidence: webhooks
      .map(({ said, received_at }) => `webhook received ${received_at} says ${said}`)
      .slice(-mostQuoted)
      .join(', '),
  });
}

type Told = Pick<FoundFields, 'expected' | 'actual' | 'difference'>;

/** What webhooks say, each contradiction once. */
function distinctWords(webhooks: readonly ConflictingWebhook[]): Told[] {
  const words = webhooks.flatMap((one): [string, Told][] => {
    const contradiction = contradictionIn('webhook', one.verdict, one) ?? laterContradiction(one);
    return contradiction ? [[JSON.stringify(contradiction), toldBy(contradiction, one.state)]] : [];
  });
  return [...new Map(words).values()];
}

/** A webhook that contradicted nothing when it came contradicts what the ledger holds now. */
function laterContradiction({ said, state }: ConflictingWebhook): Contradiction | null {
  return said !== null && state !== null ? { kind: 'against_ledger', source: 'webhook', said, state } : null;
}

/** The fields in which they differ; else what the webhook says and our state. */
function toldBy(contradiction: Contradiction, state: string | null): Told {
  if (contradiction.kind !== 'differs')
    return {
      expected: state ?? 'a payout of ours',
      actual: contradictionText(contradiction),
      difference: '',
    };
  const { differences } = contradiction;
  const amount = differences.find(({ field }) => field === 'amount');
  return {
    expected: differences.map(({ field, expected }) => `${field} ${expected}`).join('; '),
    actual: differences.map(({ field, actual }) => `${field} ${actual}`).join('; '),
    difference: decimalDifference(amount?.actual ?? '', amount?.expected ?? ''),
  };
}

/** Which payout a discrepancy is about. */
function payoutFields(
  payout: Pick<WatchedPayout, 'id' | 'batch_id' | 'reference' | 'trx' | 'transfer_id' | 'currency'>,
): ConflictIdentity {
  return {
    payoutId: payout.id,
    batchId: payout.batch_id,
    reference: payout.reference,
    trx: payout.trx,
    transferId: payout.transfer_id,
    currency: payout.currency,
  };
}

/** The same of a webhook, which may be about none of ours. */
function webhookFields(webhook: ConflictingWebhook): ConflictIdentity {
  return {
    payoutId: webhook.payout_id,
    batchId: webhook.batch_id,
    reference: webhook.reference ?? webhook.told_reference ?? '',
    trx: webhook.told_trx,
    transferId: webhook.transfer_id,
    currency: webhook.currency ?? '',
  };
}

function amountOf(payout: WatchedPayout): string {
  return formatMinor(payout.amount, payout.currency);
}

/** A payout that had ended, by a person's decision or a refusal, until the service said otherwise (P14, P32). */
export function overturned(payout: Overturned): FoundDiscrepancy {
  const { before, word, overturned_at: at, decision } = payout;
  const ended =
    decision === null
      ? `ledger: ${before} by the service's answer`
      : `${decision.source} settled it as ${before} at ${decision.at} (${decision.note})`;
  return finding('status_conflict', payout.reference, {
    ...payoutFields(payout),
    expected: before,
    actual: payout.state,
    difference: misplaced({ ...payout, state: before }, payout.state),
    moved: true,
    evidence: `${ended}; then at ${at}: ${word}`,
  });
}
