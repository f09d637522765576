import type { ClearanceAnswer } from '../../core/domain/clearance.ts';
import type { Contradiction } from '../../core/domain/contradiction.ts';
import { isWebhookReason } from '../../core/domain/inquiry-reason.ts';
import { ladderDelayMs } from '../../core/domain/ladder.ts';
import { isKnownAs, type Origin, originText, type Standpoint } from '../../core/domain/origin.ts';
import { moneyStanding } from '../../core/domain/payout.ts';
import { later } from '../../core/domain/wait.ts';
import { findWitness, isNotFound, type WitnessFinding } from '../../core/domain/witness.ts';
import { columnsOf, onlySaid, type SaidFields } from '../../core/ledger/contradiction-columns.ts';
import {
  addAnswer,
  addInquiry,
  type ClosedInquiry,
  closeInquiry,
  type Due,
  markAsked,
} from '../../core/ledger/inquiries.ts';
import {
  type AttemptMark,
  attemptedSince,
  type KnownPayout,
  loadKnown,
  unknownSince,
} from '../../core/ledger/known.ts';
import { noteSameAccount, sentOnlyElsewhere } from '../../core/ledger/origins.ts';
import { record } from '../../core/ledger/record.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { LookUpReply, ServiceTrouble } from '../../core/service/types.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import type { LookUpOutcome } from '../../core/storage/tables/said-columns.ts';

/** One look-up as it was asked: what was known, which attempts were under way, how often it had been raised. */
export type AskedLookUp = {
  due: Due;
  raised: bigint;
  known: KnownPayout;
  mark: AttemptMark;
  webhookMark: bigint;
  askedAt: string;
};

type Deps = {
  ledger: Ledger;
  clock: Clock;
  standpoint?: Standpoint | undefined;
  rules: { quietPeriodMs: number };
};

/**
 * Records what a look-up's reply proves, closes the question, and puts the next one on the list, in one transaction.
 */
export async function concludeLookUp(
  deps: Deps,
  asked: AskedLookUp,
  reply: LookUpReply | ServiceTrouble,
): Promise<ClearanceAnswer & { inquiry: bigint; answered: boolean }> {
  const { due, known, askedAt, webhookMark } = asked;
  const { standpoint } = deps;
  const answeredAt = deps.clock.iso();
  const said: WitnessFinding =
    reply.kind === 'reply' ? findWitness(reply.json, known.expected, 'details') : { kind: 'none' };
  const raw = reply.kind === 'reply' ? reply.raw : reply.message;
  const clockOffMs =
    reply.kind === 'reply' && reply.date !== null ? Date.parse(answeredAt) - reply.date : null;
  return deps.ledger.write(async (trx) => {
    await markAsked(trx, due.id, askedAt);
    const finding = await ofThisAccount(trx, standpoint, asked, said);
    const { outcome, word } = await hear(trx, asked, { reply, finding, answeredAt });
    const attemptId = known.payout.last_attempt_id;
    const answer = {
      askedAt,
      answeredAt,
      outcome,
      ...(word && { word }),
      raw,
      attemptId,
      clockOffMs,
      webhookMark,
      ...(standpoint && { originId: standpoint.originId }),
    };
    const closed = await closeInquiry(trx, due.id, answer);
    const inquiry = closed ? due.id : await addAnswer(trx, due.payoutId, answer);
    if (standpoint && outcome === 'found' && finding.kind === 'witness') {
      const { transferId } = finding.witness;
      await noteSameAccount(trx, { payout: due.payoutId, transferId, at: answeredAt }, standpoint);
    }
    // Where another process closed it before, that one has put the next question on the list.
    if (closed) await climb(deps, trx, asked, { at: answeredAt, outcome, closed });
    const tells = outcome === 'found' || outcome === 'against_ledger' || outcome === 'differs';
    const found = finding.kind !== 'another' && tells;
    return {
      inquiry,
      answered: reply.kind === 'reply',
      word: outcome === 'not_found' ? 'not_found' : found ? 'found' : 'no_answer',
      status: found && finding.kind === 'witness' ? finding.witness.status : null,
    };
  });
}

/** `another`: a transfer of another account than the one that the payout went to. It proves nothing (P31). */
type Heard = WitnessFinding | { kind: 'another'; went: Origin; asked: Origin };

async function ofThisAccount(
  trx: Trx,
  standpoint: Standpoint | undefined,
  { due: { payoutId }, known: { payout } }: AskedLookUp,
  said: WitnessFinding,
): Promise<Heard> {
  if (!standpoint || said.kind === 'none') return said;
  const { account } = standpoint;
  const went = (await sentOnlyElsewhere(trx, [payoutId], account)).get(payoutId);
  if (!went) return said;
  const { transfer_id: transferId, trx: name, evidence } = payout;
  const isOurs = said.kind === 'witness' && isKnownAs({ transferId, trx: name, evidence }, said.witness);
  return isOurs ? said : { kind: 'another', went, asked: account.own };
}

type Answered = { outcome: LookUpOutcome; word?: SaidFields };

/** Tells the ledger; returns what came of the look-up. */
async function hear(
  trx: Trx,
  { due: { payoutId }, mark, known }: AskedLookUp,
  answer: { reply: LookUpReply | ServiceTrouble; finding: Heard; answeredAt: string },
): Promise<Answered> {
  const { reply, finding, answeredAt } = answer;
  if (reply.kind !== 'reply') return { outcome: 'error' };
  // P4: the answer says nothing about an attempt that was under way when it was asked for, or began later.
  const outdated = (await attemptedSince(trx, mark, [payoutId])).has(payoutId);
  const stands = finding.kind === 'witness' && ['pending', 'success'].includes(finding.witness.status);
  if (outdated && !stands) return { outcome: 'outdated' };
  switch (finding.kind) {
    case 'witness': {
      const { witness } = finding;
      const event = { kind: 'witness' as const, witness, askedIn: known.payout.state };
      const [recorded] = await record(trx, answeredAt, [{ payoutId, source: 'details', event }]);
      return recorded?.effect.kind === 'conflict'
        ? against({ kind: 'against_ledger', source: 'details', said: witness.status, state: recorded.from })
        : { outcome: 'found', word: onlySaid(witness.status) };
    }
    case 'another': {
      const { asked: actual, went: expected } = finding;
      const origin = { field: 'origin', expected: originText(expected), actual: originText(actual) };
      return against({ kind: 'differs', differences: [origin] });
    }
    case 'conflict':
      return against({ kind: 'differs', differences: finding.fields });
    case 'none': {
      if (!isNotFound(reply.json, reply.httpStatus)) return { outcome: 'no_witness' };
      const event = { kind: 'looked_up' as const, found: false };
      await record(trx, answeredAt, [{ payoutId, source: 'details', event }]);
      return { outcome: 'not_found' };
    }
  }
}

function against(one: Exclude<Contradiction, { kind: 'against_webhook' }>): Answered {
  return { outcome: one.kind, word: columnsOf(one) };
}

/** The next question: a rung of the ladder while the outcome is unknown (P19), or the answer that stayed away. */
async function climb(
  { rules }: Deps,
  trx: Trx,
  { due: { payoutId }, known, raised, askedAt }: AskedLookUp,
  { at, outcome, closed }: { at: string; outcome: LookUpOutcome; closed: ClosedInquiry },
): Promise<void> {
  const { state } = (await loadKnown(trx, [payoutId])).get(payoutId)?.payout ?? known.payout;
  const question = { payoutId, reason: 'unsettled' as const };
  const rung = closed.rung + 1n;
  if (state === 'unknown') {
    const since = (await unknownSince(trx, [payoutId])).get(payoutId) ?? at;
    const elapsed = Date.parse(at) - Date.parse(since);
    const standing = closed.rung_due_at;
    const next = standing === null ? 0n : rung;
    const dueAt = later(at, ladderDelayMs(Number(next), elapsed, rules.quietPeriodMs));
    // Asked before its time, for another reason: the rung still stands.
    const early = standing !== null && askedAt < standing;
    await addInquiry(
      trx,
      early
        ? { ...question, dueAt: standing, rung: closed.rung, rungDueAt: standing }
        : { ...question, dueAt, rung: next, rungDueAt: dueAt },
    );
  } else if (state === 'pending' && outcome !== 'found' && outcome !== 'not_found') {
    await addInquiry(trx, { ...question, dueAt: later(at, ladderDelayMs(Number(rung))), rung });
  } else if ((outcome === 'error' || outcome === 'no_witness') && isWebhookReason(closed.reason)) {
    // A final payout is asked about only where something contradicted it: that question still needs its answer.
    const again = { ...question, reason: closed.reason };
    await addInquiry(trx, { ...again, dueAt: later(at, ladderDelayMs(Number(rung))), rung });
  }
  // Raised while the answer was on its way, perhaps by a webhook: the answer may be older than what raised it.
  if (closed.raised > raised && moneyStanding[state] === 'open')
    await addInquiry(trx, { ...question, dueAt: at, rung: 0n });
}
