import { ladderDelayMs } from '../domain/ladder.ts';
import type { Mode } from '../domain/payout.ts';
import { findWitness, isNotFound } from '../domain/witness.ts';
import { attemptedSince, type Known, loadKnown } from '../ledger/expected.ts';
import { addInquiry, closeInquiry, type Due, dueInquiries } from '../ledger/inquiries.ts';
import type { Ledger } from '../ledger/open.ts';
import { record } from '../ledger/record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LookUpReply, ServiceClient, ServiceTrouble } from '../service/types.ts';

export type LookUpDeps = {
  ledger: Ledger;
  clock: Clock;
  service: ServiceClient;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  rules: { mode: Mode; concurrency: number; quietPeriodMs: number };
};

export type LookUpWord = 'found' | 'not_found' | 'no_answer';

export type LookUps = {
  /** Asks what is due by now, at most `budget` questions. Returns how many were asked. */
  askDue(options: { budget: number; signal?: AbortSignal }): Promise<number>;
  /** Asks about these payouts now, whatever is due; each answer is recorded like any other. */
  lookUp(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<Map<bigint, LookUpWord>>;
};

/** Details look-ups (endpoint 5): the question that can make a payout final (P14), and the one that ends unknowns (P19). */
export function createLookUps(deps: LookUpDeps): LookUps {
  async function askOne(due: Due): Promise<LookUpWord> {
    await deps.limiter.take();
    const known = (await loadKnown(deps.ledger.db, [due.payoutId])).get(due.payoutId);
    if (!known) return 'no_answer';
    const askedAt = deps.clock.iso();
    const reply = await deps.service.fetchTransferDetails(known.payout.reference);
    return conclude(deps, due, known, askedAt, reply);
  }

  async function askAll(
    dues: readonly Due[],
    signal: AbortSignal | undefined,
  ): Promise<Map<bigint, LookUpWord>> {
    const words = new Map<bigint, LookUpWord>();
    const queue = [...dues];
    let troubles = 0;
    const lane = async (): Promise<void> => {
      for (let due = queue.shift(); due && !signal?.aborted && troubles < 5; due = queue.shift()) {
        const word = await askOne(due);
        troubles = word === 'no_answer' ? troubles + 1 : 0;
        words.set(due.payoutId, word);
      }
    };
    await Promise.all(Array.from({ length: Math.min(deps.rules.concurrency, dues.length) }, lane));
    return words;
  }

  return {
    async askDue({ budget, signal }) {
      const { mode } = deps.rules;
      const dues = await dueInquiries(deps.ledger.db, {
        mode,
        kind: 'details',
        at: deps.clock.iso(),
        limit: budget,
      });
      return (await askAll(dues, signal)).size;
    },
    async lookUp(payoutIds, signal) {
      const words = new Map<bigint, LookUpWord>();
      for (let from = 0; from < payoutIds.length && !signal?.aborted; from += 500) {
        const chunk = payoutIds.slice(from, from + 500);
        const at = deps.clock.iso();
        await deps.ledger.write(async (trx) => {
          for (const payoutId of chunk)
            await addInquiry(trx, {
              payoutId,
              kind: 'details',
              reason: 'reconciliation',
              dueAt: at,
              rung: 0n,
            });
        });
        const { mode } = deps.rules;
        const dues = await dueInquiries(deps.ledger.db, {
          mode,
          kind: 'details',
          at,
          limit: chunk.length,
          payoutIds: chunk,
        });
        for (const [id, word] of await askAll(dues, signal)) words.set(id, word);
      }
      return words;
    },
  };
}

async function conclude(
  deps: LookUpDeps,
  due: Due,
  known: Known,
  askedAt: string,
  reply: LookUpReply | ServiceTrouble,
): Promise<LookUpWord> {
  const answeredAt = deps.clock.iso();
  const finding =
    reply.kind === 'reply' ? findWitness(reply.json, known.expected, 'details') : { kind: 'none' as const };
  const missing = reply.kind === 'reply' && isNotFound(reply.json, reply.httpStatus);
  const raw = reply.kind === 'reply' ? reply.raw : reply.message;
  return deps.ledger.write(async (trx) => {
    const { payoutId } = due;
    // P4: an answer to a question asked before the latest attempt ended says nothing about that attempt.
    const outdated = await attemptedSince(trx, payoutId, askedAt);
    let outcome = 'error';
    if (outdated && !(finding.kind === 'witness' && finding.witness.status !== 'failed')) {
      outcome = 'outdated';
    } else if (finding.kind === 'witness') {
      const { witness } = finding;
      const [told] = await record(trx, answeredAt, [
        { payoutId, source: 'details', event: { kind: 'witness', witness } },
      ]);
      outcome = told?.effect.kind === 'conflict' ? `conflict: ${told.effect.why}` : 'found';
    } else if (finding.kind === 'conflict') {
      outcome = `conflict: ${finding.fields.map((f) => `${f.field} is ${f.actual}, ours ${f.expected}`).join('; ')}`;
    } else if (missing) {
      await record(trx, answeredAt, [
        { payoutId, source: 'details', event: { kind: 'looked_up', found: false } },
      ]);
      outcome = 'not_found';
    } else if (reply.kind === 'reply') {
      outcome = 'no_witness';
    }
    await closeInquiry(trx, due.id, { askedAt, answeredAt, outcome, raw });
    await climb(deps, trx, due, known, answeredAt, outcome);
    return outcome === 'not_found'
      ? 'not_found'
      : outcome === 'found' || outcome.startsWith('conflict')
        ? 'found'
        : 'no_answer';
  });
}

/** The next rung of the ladder while the outcome stays unknown, or the answer that a payout waits for stayed away. */
async function climb(
  deps: LookUpDeps,
  trx: Parameters<typeof addInquiry>[0],
  due: Due,
  known: Known,
  at: string,
  outcome: string,
): Promise<void> {
  const still = (await loadKnown(trx, [known.payout.id])).get(known.payout.id)?.payout ?? known.payout;
  const waiting = still.state === 'unknown' || still.look_up_first === 1n;
  const unfinished = outcome !== 'found' && known.payout.state === 'pending' && outcome !== 'not_found';
  if (!waiting && !unfinished) return;
  const since = Date.parse(at) - Date.parse(still.submitted_at ?? at);
  const rung = Number(due.rung) + 1;
  const delay =
    still.look_up_first === 1n
      ? Math.min(1000 * 2 ** rung, 3_600_000)
      : ladderDelayMs(rung, since, deps.rules.quietPeriodMs);
  const dueAt = new Date(Date.parse(at) + delay).toISOString();
  await addInquiry(trx, {
    payoutId: due.payoutId,
    kind: 'details',
    reason: still.state,
    dueAt,
    rung: BigInt(rung),
  });
}
