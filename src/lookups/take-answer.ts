import type { Answer } from '../domain/clearance.ts';
import { isWebhookReason } from '../domain/inquiry-reason.ts';
import { ladderDelayMs } from '../domain/ladder.ts';
import { isKnownAs, type Origin, originText, type Standpoint } from '../domain/origin.ts';
import type { PayoutState } from '../domain/payout.ts';
import { type Finding, findWitness, isNotFound } from '../domain/witness.ts';
import { addInquiry, type Closed, closeInquiry, type Due, markAsked } from '../ledger/inquiries.ts';
import { type AttemptMark, attemptedSince, type Known, loadKnown, unknownSince } from '../ledger/known.ts';
import { noteSight, sentOnlyElsewhere } from '../ledger/origins.ts';
import { record } from '../ledger/record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LookUpReply, ServiceTrouble } from '../service/types.ts';
import type { Ledger, Trx } from '../storage/ledger.ts';

/** One look-up as it was asked: what was known, which attempts were under way, how often it had been raised. */
export type Asked = {
  due: Due;
  raised: bigint;
  known: Known;
  mark: AttemptMark;
  askedAt: string;
};

type Deps = {
  ledger: Ledger;
  clock: Clock;
  standpoint?: Standpoint | undefined;
  rules: { quietPeriodMs: number };
};

const over: readonly PayoutState[] = ['success', 'failed', 'returned', 'refused', 'cancelled'];

/** Records what a look-up's reply proves, closes the question, and puts the next one on the list, in one transaction. */
export async function conclude(
  deps: Deps,
  asked: Asked,
  reply: LookUpReply | ServiceTrouble,
): Promise<Answer & { inquiry: bigint; answered: boolean }> {
  const { due, known, askedAt } = asked;
  const { standpoint } = deps;
  const answeredAt = deps.clock.iso();
  const said: Finding =
    reply.kind === 'reply' ? findWitness(reply.json, known.expected, 'details') : { kind: 'none' };
  const raw = reply.kind === 'reply' ? reply.raw : reply.message;
  const clockOffMs =
    reply.kind === 'reply' && reply.date !== null ? Date.parse(answeredAt) - reply.date : null;
  return deps.ledger.write(async (trx) => {
    await markAsked(trx, due.id, askedAt);
    const finding = await ofThisAccount(trx, standpoint, asked, said);
    const outcome = await hear(trx, asked, { reply, finding, answeredAt });
    const attemptId = known.payout.last_attempt_id;
    const closed = await closeInquiry(trx, due.id, {
      askedAt,
      answeredAt,
      outcome,
      raw,
      attemptId,
      clockOffMs,
      ...(standpoint && { originId: standpoint.originId }),
    });
    if (standpoint && outcome === 'found' && finding.kind === 'witness') {
      const { transferId } = finding.witness;
      await noteSight(trx, { payout: due.payoutId, transferId, at: answeredAt }, standpoint);
    }
    // Whoever closed it before has put the next question on the list.
    if (closed) await climb(deps, trx, asked, { at: answeredAt, outcome, closed });
    const found = finding.kind !== 'another' && (outcome === 'found' || outcome.startsWith('conflict'));
    return {
      inquiry: due.id,
      answered: reply.kind === 'reply',
      word: outcome === 'not_found' ? 'not_found' : found ? 'found' : 'no_answer',
      status: found && finding.kind === 'witness' ? finding.witness.status : null,
    };
  });
}

/** `another`: a transfer of another account than the one that the payout went to. It proves nothing (P31). */
type Heard = Finding | { kind: 'another'; went: Origin; asked: Origin };

async function ofThisAccount(
  trx: Trx,
  standpoint: Standpoint | undefined,
  { due: { payoutId }, known: { payout } }: Asked,
  said: Finding,
): Promise<Heard> {
  if (!standpoint || said.kind === 'none') return said;
  const { account } = standpoint;
  const went = (await sentOnlyElsewhere(trx, [payoutId], account)).get(payoutId);
  if (!went) return said;
  const { transfer_id: transferId, trx: name, evidence } = payout;
  const isOurs = said.kind === 'witness' && isKnownAs({ transferId, trx: name, evidence }, said.witness);
  return isOurs ? said : { kind: 'another', went, asked: account.own };
}

/** Tells the ledger; returns the look-up's outcome in a word. */
async function hear(
  trx: Trx,
  { due: { payoutId }, mark }: Asked,
  answer: { reply: LookUpReply | ServiceTrouble; finding: Heard; answeredAt: string },
): Promise<string> {
  const { reply, finding, answeredAt } = answer;
  if (reply.kind !== 'reply') return 'error';
  // P4: the answer says nothing about an attempt that was under way when it was asked for, or began later.
  const outdated = (await attemptedSince(trx, mark, [payoutId])).has(payoutId);
  const stands = finding.kind === 'witness' && ['pending', 'success'].includes(finding.witness.status);
  if (outdated && !stands) return 'outdated';
  switch (finding.kind) {
    case 'witness': {
      const event = { kind: 'witness' as const, witness: finding.witness };
      const [told] = await record(trx, answeredAt, [{ payoutId, source: 'details', event }]);
      return told?.effect.kind === 'conflict' ? `conflict: ${told.effect.why}` : 'found';
    }
    case 'another':
      return `conflict: origin is ${originText(finding.asked)}, ours ${originText(finding.went)}`;
    case 'conflict':
      return `conflict: ${finding.fields.map((f) => `${f.field} is ${f.actual}, ours ${f.expected}`).join('; ')}`;
    case 'none': {
      if (!isNotFound(reply.json, reply.httpStatus)) return 'no_witness';
      const event = { kind: 'looked_up' as const, found: false };
      await record(trx, answeredAt, [{ payoutId, source: 'details', event }]);
      return 'not_found';
    }
  }
}

/** The next question: a rung of the ladder while the outcome is unknown (P19), or the answer that stayed away. */
async function climb(
  { rules }: Deps,
  trx: Trx,
  { due: { payoutId }, known, raised, askedAt }: Asked,
  { at, outcome, closed }: { at: string; outcome: string; closed: Closed },
): Promise<void> {
  const { state } = (await loadKnown(trx, [payoutId])).get(payoutId)?.payout ?? known.payout;
  const question = { payoutId, kind: 'details' as const, reason: 'unsettled' as const };
  const within = (ms: number): string => new Date(Date.parse(at) + ms).toISOString();
  const rung = closed.rung + 1n;
  if (state === 'unknown') {
    const since = (await unknownSince(trx, [payoutId])).get(payoutId) ?? at;
    const elapsed = Date.parse(at) - Date.parse(since);
    const standing = closed.rung_due_at;
    const next = standing === null ? 0n : rung;
    const dueAt = within(ladderDelayMs(Number(next), elapsed, rules.quietPeriodMs));
    // Asked before its time, for another reason: the rung still stands.
    const early = standing !== null && askedAt < standing;
    await addInquiry(
      trx,
      early
        ? { ...question, dueAt: standing, rung: closed.rung, rungDueAt: standing }
        : { ...question, dueAt, rung: next, rungDueAt: dueAt },
    );
  } else if (state === 'pending' && outcome !== 'found' && outcome !== 'not_found') {
    await addInquiry(trx, { ...question, dueAt: within(ladderDelayMs(Number(rung))), rung });
  } else if (outcome === 'error' && isWebhookReason(closed.reason)) {
    // What is over is asked about only where something spoke against it: that still wants its answer.
    const { reason } = closed;
    await addInquiry(trx, { ...question, reason, dueAt: within(ladderDelayMs(Number(rung))), rung });
  }
  // Raised while the answer was on its way, by a webhook perhaps: the answer may be older than what raised it.
  if (closed.raised > raised && !over.includes(state))
    await addInquiry(trx, { ...question, dueAt: at, rung: 0n });
}
