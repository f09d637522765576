import type { ClearanceAnswer } from '../../core/domain/clearance.ts';
import type { Standpoint } from '../../core/domain/origin.ts';
import { later } from '../../core/domain/wait.ts';
import { findWitness } from '../../core/domain/witness.ts';
import { addInquiry, type Due, dueInquiries, markProbed, raisedSoFar } from '../../core/ledger/inquiries.ts';
import { claimDue, claimOf, freeSome, isLookUpWaiting } from '../../core/ledger/inquiry-claims.ts';
import { loadKnown, markAttempts, newestWebhook, presentPayout } from '../../core/ledger/known.ts';
import { type Clock, type Moment, momentOf } from '../../core/runtime/clock.ts';
import type { ServiceClient } from '../../core/service/types.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import { createListAnswers } from './list-answers.ts';
import { concludeLookUp } from './take-answer.ts';

export type LookUpDeps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'fetchTransferDetails' | 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  /** This process: it claims what it asks, and its death frees that (P3). */
  workerId: string;
  /** Called when pages of the list answered some of the questions. */
  onPages?(turn: AskedByPages): void;
  /** The account it asks (P31); absent: not recorded. */
  standpoint?: Standpoint;
  rules: {
    concurrency: number;
    quietPeriodMs: number;
    /** Also looks up a transfer known to exist, before and after the others: only then may absence be concluded (P16). */
    probe?: boolean;
  };
};

export type LookUpWord = ClearanceAnswer['word'];
/** `askedAt`: when it was asked, by both clocks of this process. */
export type LookUpAnswer = ClearanceAnswer & { askedAt: Moment };

/** How the questions of one turn were asked: so many due, pages read, settled by them, and looked up one by one. */
export type AskedByPages = { due: number; pages: number; byPages: number; single: number };

export type LookUps = {
  /**
   * Asks about payouts that are due by now and that no other process asks about, at most `budget` of them. Returns how many
   * were asked about.
   */
  askDue(options: { budget: number; signal?: AbortSignal }): Promise<number>;
  /**
   * Whether something that was raised has been due for so many ms, by default since now, and no process asks it. False for a
   * while after the service was silent.
   */
  isWaiting(forMs?: number): Promise<boolean>;
  /** Asks about these payouts now, whether due or not; records each answer like any other. */
  lookUp(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<Map<bigint, LookUpWord>>;
  /** The same, with the status that the details showed. */
  askNow(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<Map<bigint, LookUpAnswer>>;
};

type Reply = LookUpAnswer & { inquiry: bigint; answered: boolean };

/** How many look-ups go between two probes, and how many payouts into one transaction. */
const group = 100;
const chunk = 500;
/** After this many questions in a row without an answer the service counts as down, and the rest waits. */
const silenceLimit = 5;
/** For this long after that, nothing is asked that nobody wakes this process for. */
const silenceMs = 60_000;

/** Details look-ups (endpoint 5): they make a payout final (P14) and end unknown outcomes (P19). */
export function createLookUps(deps: LookUpDeps): LookUps {
  const { ledger, clock, service, limiter, workerId, rules } = deps;
  const list = createListAnswers(deps);
  /** The look-ups that this process has claimed and is asking now. */
  const asking = new Set<bigint>();
  let silentUntil = Number.NEGATIVE_INFINITY;

  /** `evenIfAnswered`: this answer is wanted even if another process has asked meanwhile. */
  async function askOne(due: Due, evenIfAnswered: boolean, signal?: AbortSignal): Promise<Reply | undefined> {
    await limiter.take(signal);
    if (signal?.aborted) return undefined;
    const raised = await raisedSoFar(ledger.db, due.id);
    if (raised === undefined && !evenIfAnswered) return undefined;
    const known = (await loadKnown(ledger.db, [due.payoutId])).get(due.payoutId);
    if (!known) return undefined;
    const mark = await markAttempts(ledger.db);
    const webhookMark = await newestWebhook(ledger.db);
    const askedAt = momentOf(clock);
    const reply = await service.fetchTransferDetails(known.payout.reference);
    const when = new Date(askedAt.wall).toISOString();
    const question = { due, raised: raised ?? 0n, known, mark, webhookMark, askedAt: when };
    return { ...(await concludeLookUp(deps, question, reply)), askedAt };
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
          const reply = await askOne(due, evenIfAnswered, signal);
          if (!reply) continue;
          silent = reply.answered ? 0 : silent + 1;
          answers.set(due.payoutId, { word: reply.word, status: reply.status, askedAt: reply.askedAt });
          if (due.unknown && reply.word === 'not_found') absent.push(reply.inquiry);
        }
      };
      await Promise.all(Array.from({ length: Math.min(rules.concurrency, queue.length) }, lane));
      if (absent.length === 0 || present === null) continue;
      const still = await probe(dues, signal);
      const before = present;
      if (still !== null) await ledger.write((trx) => markProbed(trx, absent, `${before}, ${still}`));
      present = still;
    }
    silentUntil = silent >= silenceLimit ? clock.monotonic() + silenceMs : Number.NEGATIVE_INFINITY;
    return answers;
  }

  /** Probes the service: returns the reference of a transfer known to exist that it just showed, or null. */
  async function probe(dues: readonly Due[], signal?: AbortSignal): Promise<string | null> {
    if (!rules.probe || !dues.some((due) => due.unknown)) return null;
    const known = await presentPayout(ledger.db);
    if (!known) return null;
    await limiter.take(signal);
    if (signal?.aborted) return null;
    const reply = await service.fetchTransferDetails(known.payout.reference);
    const finding = reply.kind === 'reply' && findWitness(reply.json, known.expected, 'details');
    return finding && finding.kind === 'witness' ? known.payout.reference : null;
  }

  /** Asks what `claim` claims; frees what was not answered. What a failure leaves claimed, this process claims again. */
  async function withClaims<T>(
    claim: (trx: Trx) => Promise<readonly bigint[]>,
    work: () => Promise<T>,
  ): Promise<T> {
    let claimed: readonly bigint[] = [];
    try {
      await ledger.write(async (trx) => {
        claimed = await claim(trx);
        for (const id of claimed) asking.add(id);
      });
      const done = await work();
      if (claimed.length > 0) await ledger.write((trx) => freeSome(trx, workerId, claimed));
      return done;
    } finally {
      for (const id of claimed) asking.delete(id);
    }
  }

  async function askDue({ budget, signal }: { budget: number; signal?: AbortSignal }): Promise<number> {
    const at = clock.iso();
    let dues: readonly Due[] = [];
    const claim = async (trx: Trx): Promise<bigint[]> => {
      dues = await claimDue(trx, { workerId, asking: [...asking] }, { at, limit: budget });
      return dues.map(({ id }) => id);
    };
    return withClaims(claim, async () => {
      const { pages, settled } = await list.answer(dues, signal);
      const rest = dues.filter(({ payoutId }) => !settled.has(payoutId));
      const single = (await askAll(rest, false, signal)).size;
      if (pages > 0) deps.onPages?.({ due: dues.length, pages, byPages: settled.size, single });
      return settled.size + single;
    });
  }

  async function askNow(
    payoutIds: readonly bigint[],
    signal?: AbortSignal,
  ): Promise<Map<bigint, LookUpAnswer>> {
    const answers = new Map<bigint, LookUpAnswer>();
    for (let from = 0; from < payoutIds.length && !signal?.aborted; from += chunk) {
      const ids = payoutIds.slice(from, from + chunk);
      const at = clock.iso();
      const claim = async (trx: Trx): Promise<bigint[]> => {
        for (const payoutId of ids) await addInquiry(trx, { payoutId, reason: 'asked', dueAt: at, rung: 0n });
        return claimOf(trx, { workerId, asking: [...asking] }, ids);
      };
      await withClaims(claim, async () => {
        const dues = await dueInquiries(ledger.db, { at, payoutIds: ids });
        for (const [id, answer] of await askAll(dues, true, signal)) answers.set(id, answer);
      });
    }
    return answers;
  }

  return {
    askDue,
    isWaiting: async (forMs = 0) =>
      clock.monotonic() >= silentUntil && isLookUpWaiting(ledger.db, later(clock.iso(), -forMs)),
    askNow,
    async lookUp(payoutIds, signal) {
      const answers = await askNow(payoutIds, signal);
      return new Map([...answers].map(([id, { word }]) => [id, word]));
    },
  };
}
