import type { Answer } from '../domain/clearance.ts';
import type { Standpoint } from '../domain/origin.ts';
import { findWitness } from '../domain/witness.ts';
import { addInquiry, type Due, dueInquiries, markProbed, raisedSoFar } from '../ledger/inquiries.ts';
import { loadKnown, markAttempts, presentPayout } from '../ledger/known.ts';
import { type Clock, type Moment, momentOf } from '../runtime/clock.ts';
import type { ServiceClient } from '../service/types.ts';
import type { Ledger } from '../storage/ledger.ts';
import { conclude } from './take-answer.ts';

export type LookUpDeps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'fetchTransferDetails'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  /** Where it asks (P31); absent: nobody writes that down. */
  standpoint?: Standpoint;
  rules: {
    concurrency: number;
    quietPeriodMs: number;
    /** Asks about a transfer known to be present around the others: absence may then be concluded (P16). */
    probe?: boolean;
  };
};

export type LookUpWord = Answer['word'];
/** `askedAt`: when, on both clocks of this process. */
export type LookUpAnswer = Answer & { askedAt: Moment };

export type LookUps = {
  /** Asks what is due by now, at most `budget` questions. Returns how many were asked. */
  askDue(options: { budget: number; signal?: AbortSignal }): Promise<number>;
  /** Asks about these payouts now, whatever is due; each answer is recorded like any other. */
  lookUp(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<Map<bigint, LookUpWord>>;
  /** The same, with the status that the details showed. */
  askNow(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<Map<bigint, LookUpAnswer>>;
};

type Told = LookUpAnswer & { inquiry: bigint; answered: boolean };

/** Between two probes, and between two looks at the ledger. */
const group = 100;
const chunk = 500;
/** So many questions in a row without an answer: the service is not there, and the rest waits. */
const silenceLimit = 5;

/** Details look-ups (endpoint 5): the question that can make a payout final (P14), and the one that ends unknowns (P19). */
export function createLookUps(deps: LookUpDeps): LookUps {
  const { ledger, clock, service, limiter, rules } = deps;

  /** `evenIfAnswered`: who named the payout wants this answer, though another process may have asked meanwhile. */
  async function askOne(due: Due, evenIfAnswered: boolean, signal?: AbortSignal): Promise<Told | undefined> {
    await limiter.take(signal);
    if (signal?.aborted) return undefined;
    const raised = await raisedSoFar(ledger.db, due.id);
    if (raised === undefined && !evenIfAnswered) return undefined;
    const known = (await loadKnown(ledger.db, [due.payoutId])).get(due.payoutId);
    if (!known) return undefined;
    const mark = await markAttempts(ledger.db);
    const askedAt = momentOf(clock);
    const reply = await service.fetchTransferDetails(known.payout.reference);
    const when = new Date(askedAt.wall).toISOString();
    const asked = { due, raised: raised ?? 0n, known, mark, askedAt: when };
    return { ...(await conclude(deps, asked, reply)), askedAt };
  }

  async function askAll(
    dues: readonly Due[],
    evenIfAnswered: boolean,
    signal?: AbortSignal,
  ): Promise<Map<bigint, LookUpAnswer>> {
    const answers = new Map<bigint, LookUpAnswer>();
    let silent = 0;
    let present = await probe(dues, signal);
    for (let from = 0; from < dues.length && !signal?.aborted && silent < silenceLimit; from += group) {
      const queue = dues.slice(from, from + group);
      const absent: bigint[] = [];
      const lane = async (): Promise<void> => {
        while (!signal?.aborted && silent < silenceLimit) {
          const due = queue.shift();
          if (!due) return;
          const told = await askOne(due, evenIfAnswered, signal);
          if (!told) continue;
          silent = told.answered ? 0 : silent + 1;
          answers.set(due.payoutId, { word: told.word, status: told.status, askedAt: told.askedAt });
          if (due.unknown && told.word === 'not_found') absent.push(told.inquiry);
        }
      };
      await Promise.all(Array.from({ length: Math.min(rules.concurrency, queue.length) }, lane));
      if (absent.length === 0 || present === null) continue;
      const still = await probe(dues, signal);
      const before = present;
      if (still !== null) await ledger.write((trx) => markProbed(trx, absent, `${before}, ${still}`));
      present = still;
    }
    return answers;
  }

  /** The reference of a present transfer that the service just showed; null when there is none, or none was shown. */
  async function probe(dues: readonly Due[], signal?: AbortSignal): Promise<string | null> {
    if (!rules.probe || !dues.some((due) => due.unknown)) return null;
    const known = await presentPayout(ledger.db);
    if (!known) return null;
    await limiter.take(signal);
    if (signal?.aborted) return null;
    const reply = await service.fetchTransferDetails(known.payout.reference);
    const shown = reply.kind === 'reply' && findWitness(reply.json, known.expected, 'details');
    return shown && shown.kind === 'witness' ? known.payout.reference : null;
  }

  async function askNow(
    payoutIds: readonly bigint[],
    signal?: AbortSignal,
  ): Promise<Map<bigint, LookUpAnswer>> {
    const answers = new Map<bigint, LookUpAnswer>();
    for (let from = 0; from < payoutIds.length && !signal?.aborted; from += chunk) {
      const ids = payoutIds.slice(from, from + chunk);
      const at = clock.iso();
      await ledger.write(async (trx) => {
        for (const payoutId of ids)
          await addInquiry(trx, { payoutId, kind: 'details', reason: 'asked', dueAt: at, rung: 0n });
      });
      const request = { kind: 'details' as const, at, limit: ids.length, payoutIds: ids };
      const dues = await dueInquiries(ledger.db, request);
      for (const [id, answer] of await askAll(dues, true, signal)) answers.set(id, answer);
    }
    return answers;
  }

  return {
    async askDue({ budget, signal }) {
      const request = { kind: 'details' as const, at: clock.iso(), limit: budget };
      return (await askAll(await dueInquiries(ledger.db, request), false, signal)).size;
    },
    askNow,
    async lookUp(payoutIds, signal) {
      const answers = await askNow(payoutIds, signal);
      return new Map([...answers].map(([id, { word }]) => [id, word]));
    },
  };
}
