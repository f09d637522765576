import type { ClearanceAnswer } from '../core/domain/clearance.ts';
import type { ServiceAccount } from '../core/domain/origin.ts';
import { type Clock, elapsedSince, type Moment } from '../core/runtime/clock.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { ClaimScope, Cleared, Under } from './claim-request.ts';
import { subjectsOf, weighAnswers } from './clearance-answers.sql.ts';
import { nextToAsk } from './ready.sql.ts';

/** Makes a details look-up of each of these payouts, recorded in the ledger like every look-up. */
export type AskService = (
  payoutIds: readonly bigint[],
  signal?: AbortSignal,
) => Promise<ReadonlyMap<bigint, Timed>>;

/** `askedAt`: when it was asked, on both clocks of this process. */
type Timed = ClearanceAnswer & { askedAt: Moment };

/**
 * What the service's answers allow this process to send again (P31). The questions run beside the loop, so that no first
 * send waits for them. Kept in memory only: a process that starts again asks again.
 */
export type Clearances = {
  /** What may be claimed, by answers to questions asked less than two minutes ago. */
  fresh(): Cleared;
  spend(ids: readonly bigint[]): void;
  /**
   * Begins to ask about the next payouts that need it. Resolves when that group is answered. Undefined: nothing to ask.
   */
  fill(wanted: number): Promise<void> | undefined;
  /** Milliseconds until it is worth asking again; null when this run asks no more. */
  restMs(): number | null;
  /** The payouts without a clear answer, however often the service was asked. */
  unanswered(): bigint[];
  /** When an answer last ended a wait, on the monotonic clock. This counts as progress, like a payout sent. */
  endedSomethingAt(): number;
  /** Resolves when nothing is being asked any more. */
  ended(): Promise<void>;
};

type Deps = {
  ledger: Ledger;
  clock: Clock;
  account: ServiceAccount;
  askService: AskService;
  concurrency: number;
  under(): Under;
};

/** How long an answer counts (P31), from when the question was asked, by the clock on which more time passed. */
const freshMs = 120_000;
/** The time between two searches for payouts to ask about, so that not each turn pays for one. */
const lookMs = 250;
/** How often one run asks about a payout, and after how many groups in a row without any answer it stops asking. */
const mostTries = 3;
const firstRestMs = 1000;

export function createClearances(
  deps: Deps,
  { scope, signal }: { scope: ClaimScope | undefined; signal: AbortSignal | undefined },
): Clearances {
  const { ledger, clock } = deps;
  const held = new Map<bigint, { attempts: bigint; askedAt: readonly Moment[] }>();
  const silent = new Map<bigint, { tries: number; until: number }>();
  let asking: Promise<void> | undefined;
  let failure: { error: unknown } | undefined;
  let silentGroups = 0;
  let nextLook = Number.NEGATIVE_INFINITY;
  let endedSomethingAt = Number.NEGATIVE_INFINITY;
  let foundNone = false;

  function fresh(): Cleared {
    const isOld = (asked: Moment): boolean => elapsedSince(clock, asked) >= freshMs;
    for (const [id, { askedAt }] of held) if (askedAt.some(isOld)) held.delete(id);
    return new Map([...held].map(([id, { attempts }]) => [id, attempts]));
  }

  async function ask(): Promise<void> {
    const now = clock.monotonic();
    const resting = [...silent].filter(([, { until }]) => until > now).map(([id]) => id);
    const except = [...fresh().keys(), ...resting];
    const next = await nextToAsk(ledger.db, { ...scope, ...deps.under(), limit: deps.concurrency, except });
    const ids = [...next.keys()];
    nextLook = clock.monotonic() + lookMs;
    foundNone = ids.length === 0;
    if (foundNone) return;
    nextLook = Number.NEGATIVE_INFINITY;
    const about = await subjectsOf(ledger.db, ids);
    const answers = await deps.askService([...new Set([...about.values()].flat())], signal);
    if (signal?.aborted) return;
    const { cleared, waiting } = await ledger.write((trx) =>
      weighAnswers(trx, next, { answers, account: deps.account, at: clock.iso() }),
    );
    for (const [id, attempts] of cleared) {
      const askedAt = (about.get(id) ?? []).flatMap((one) => answers.get(one)?.askedAt ?? []);
      held.set(id, { attempts, askedAt });
      silent.delete(id);
    }
    if (cleared.size + waiting.length < ids.length) endedSomethingAt = clock.monotonic();
    rest(waiting, waiting.length < ids.length);
  }

  /** Waits before it asks again: about a payout without an answer, and of a service that answers nothing at all. */
  function rest(waiting: readonly bigint[], anyAnswered: boolean): void {
    const now = clock.monotonic();
    for (const id of waiting) {
      const tries = (silent.get(id)?.tries ?? 0) + 1;
      const until = tries < mostTries ? now + firstRestMs * 2 ** (tries - 1) : Number.POSITIVE_INFINITY;
      silent.set(id, { tries, until });
    }
    silentGroups = anyAnswered ? 0 : silentGroups + 1;
    if (!anyAnswered) nextLook = now + firstRestMs * 2 ** (silentGroups - 1);
  }

  return {
    fresh,
    spend(ids) {
      for (const id of ids) held.delete(id);
    },
    fill(wanted) {
      if (failure) throw failure.error;
      if (asking) return asking;
      if (silentGroups >= mostTries || clock.monotonic() < nextLook || fresh().size >= wanted)
        return undefined;
      asking = ask()
        .catch((error: unknown) => {
          failure = { error };
        })
        .finally(() => {
          asking = undefined;
        });
      return asking;
    },
    restMs() {
      if (silentGroups >= mostTries) return null;
      const now = clock.monotonic();
      if (!foundNone) return Math.max(0, nextLook - now);
      // Payouts that became ready since the last search are not known yet.
      if (silent.size === 0) {
        nextLook = now;
        return 0;
      }
      const until = Math.min(...[...silent.values()].map((one) => one.until));
      return until === Number.POSITIVE_INFINITY ? null : Math.max(0, until - now);
    },
    unanswered: () => [...silent.keys()],
    endedSomethingAt: () => endedSomethingAt,
    async ended() {
      await asking;
    },
  };
}
