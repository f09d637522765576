import type { Answer } from '../domain/clearance.ts';
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

/** One look-up as it was asked: the known facts, the attempts in flight, and how often it had been requested. */
export type Question = {
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

/** Records what a look-up's reply proves, closes the question and schedules the next one, in one transaction. */
export async function conclude(
  deps: Deps,
  question: Question,
  reply: LookUpReply | ServiceTrouble,
): Promise<Answer & { inquiry: bigint; answered: boolean }> {
  const { due, known, askedAt } = question;
  const { standpoint } = deps;
  const answeredAt = deps.clock.iso();
  const reading: Finding =
    reply.kind === 'reply' ? findWitness(reply.json, known.expected, 'details') : { kind: 'none' };
  const raw = reply.kind === 'reply' ? reply.raw : reply.message;
  const clockOffMs =
    reply.kind === 'reply' && reply.date !== null ? Date.parse(answeredAt) - reply.date : null;
  return deps.ledger.write(async (trx) => {
    await markAsked(trx, due.id, askedAt);
    const finding = await ofThisAccount(trx, standpoint, question, reading);
    const outcome = await recordFinding(trx, question, { reply, finding, answeredAt });
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
    // The process that closed it before has scheduled the next question.
    if (closed) await climb(deps, trx, question, { at: answeredAt, outcome, closed });
    const isFound = finding.kind !== 'another' && (outcome === 'found' || outcome.startsWith('conflict'));
    return {
      inquiry: due.id,
      answered: reply.kind === 'reply',
      word: outcome === 'not_found' ? 'not_found' : isFound ? 'found' : 'no_answer',
      status: isFound && finding.kind === 'witness' ? finding.witness.status : null,
    };
  });
}

/** `another`: a transfer of another account than the one that the payout was sent to. It proves nothing (P31). */
type Checked = Finding | { kind: 'another'; went: Origin; asked: Origin };

async function ofThisAccount(
  trx: Trx,
  standpoint: Standpoint | undefined,
  { due: { payoutId }, known: { payout } }: Question,
  reading: Finding,
): Promise<Checked> {
  if (!standpoint || reading.kind === 'none') return reading;
  const { account } = standpoint;
  const went = (await sentOnlyElsewhere(trx, [payoutId], account)).get(payoutId);
  if (!went) return reading;
  const { transfer_id: transferId, trx: name, evidence } = payout;
  const isOurs =
    reading.kind === 'witness' && isKnownAs({ transferId, trx: name, evidence }, reading.witness);
  return isOurs ? reading : { kind: 'another', went, asked: account.own };
}

/** Records the finding in the ledger; returns the look-up's outcome in a word. */
async function recordFinding(
  trx: Trx,
  { due: { payoutId }, mark }: Question,
  answer: { reply: LookUpReply | ServiceTrouble; finding: Checked; answeredAt: string },
): Promise<string> {
  const { reply, finding, answeredAt } = answer;
  if (reply.kind !== 'reply') return 'error';
  // P4: the answer proves nothing about an attempt that was in flight when the question was asked, or that began later.
  const outdated = (await attemptedSince(trx, mark, [payoutId])).has(payoutId);
  const stands = finding.kind === 'witness' && ['pending', 'success'].includes(finding.witness.status);
  if (outdated && !stands) return 'outdated';
  switch (finding.kind) {
    case 'witness': {
      const event = { kind: 'witness' as const, witness: finding.witness };
      const [recorded] = await record(trx, answeredAt, [{ payoutId, source: 'details', event }]);
      return recorded?.effect.kind === 'conflict' ? `conflict: ${recorded.effect.why}` : 'found';
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

/** Schedules the next question: a rung of the ladder while the outcome is unknown (P19), or a missing answer again. */
async function climb(
  { rules }: Deps,
  trx: Trx,
  { due: { payoutId }, known, raised, askedAt }: Question,
  { at, outcome, closed }: { at: string; outcome: string; closed: Closed },
): Promise<void> {
  const { state } = (await loadKnown(trx, [payoutId])).get(payoutId)?.payout ?? known.payout;
  const next = { payoutId, kind: 'details' as const, reason: state };
  const within = (ms: number): string => new Date(Date.parse(at) + ms).toISOString();
  const rung = closed.rung + 1n;
  if (state === 'unknown') {
    const since = (await unknownSince(trx, [payoutId])).get(payoutId) ?? at;
    const elapsed = Date.parse(at) - Date.parse(since);
    const standing = closed.rung_due_at;
    const nextRung = standing === null ? 0n : rung;
    const dueAt = within(ladderDelayMs(Number(nextRung), elapsed, rules.quietPeriodMs));
    // Asked early, for another reason: the rung is still due.
    const early = standing !== null && askedAt < standing;
    await addInquiry(
      trx,
      early
        ? { ...next, dueAt: standing, rung: closed.rung, rungDueAt: standing }
        : { ...next, dueAt, rung: nextRung, rungDueAt: dueAt },
    );
  } else if (state === 'pending' && outcome !== 'found' && outcome !== 'not_found') {
    await addInquiry(trx, { ...next, dueAt: within(ladderDelayMs(Number(rung))), rung });
  } else if (outcome === 'error' && isAskedByWebhook(closed)) {
    // A finished payout is asked about only where a webhook contradicts it: that question still needs its answer.
    const { reason } = closed;
    await addInquiry(trx, { ...next, reason, dueAt: within(ladderDelayMs(Number(rung))), rung });
  }
  // An event, perhaps a webhook, came while the answer was in flight: the answer may be older than the event.
  if (closed.raised > raised && !over.includes(state))
    await addInquiry(trx, { ...next, dueAt: at, rung: 0n });
}

/** True for the reasons that begin with the words used when a webhook is applied, or when a payout is held for one. */
function isAskedByWebhook({ reason }: Closed): boolean {
  return reason.startsWith('a webhook');
}
