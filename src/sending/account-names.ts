import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { AccountName, ServiceClient, ServiceTrouble } from '../core/service/types.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { type Patience, patiently } from './patient-question.ts';
import { accountsToAsk, type Beneficiary, keepNames, otherNames } from './precheck.sql.ts';

/** How many answers one transaction keeps: a crash loses no more. */
const keptAtOnce = 50;
/** So many accounts in a row without an answer mean that the service gives none now. */
const silenceLimit = 3;

type Deps = Patience & {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'accountName'>;
  /** The endpoint, below `/api/v1`. */
  path: string;
  concurrency: number;
};

type Turn = {
  batch: string;
  /** When this turn ends, on the monotonic clock. */
  until: number;
  signal?: AbortSignal | undefined;
  /** Called with the number of payouts whose account is known. */
  onProgress(payouts: number): void;
};

/** `more`: the turn ended before all were asked. `trouble`: the service gave no answers; ask later. */
type Names =
  | { kind: 'compared'; reason: HoldReason | null }
  | { kind: 'more' }
  | { kind: 'trouble'; why: string };

/**
 * Asks whose the accounts of a batch are, each once, and compares the names. Answers are kept in the ledger, so that the
 * next turn or process goes on. An answer that cannot be used ends it: every other one would be like it.
 */
export async function compareNames(deps: Deps, turn: Turn): Promise<Names> {
  const { ledger, clock } = deps;
  let known = 0;
  for (let after: bigint | null = 0n; after !== null; ) {
    const page = await accountsToAsk(ledger.db, turn.batch, after);
    for (let from = 0; from < page.accounts.length; from += keptAtOnce) {
      if (turn.signal?.aborted || clock.monotonic() > turn.until) return { kind: 'more' };
      const some = page.accounts.slice(from, from + keptAtOnce);
      const { names, ended } = await askSome(deps, some, turn.signal);
      if (names.length > 0) await ledger.write((trx) => keepNames(trx, turn.batch, names));
      if (turn.signal?.aborted) return { kind: 'more' };
      if (ended?.reason === 'not_understood' || ended?.reason === 'unauthorised')
        return {
          kind: 'compared',
          reason: { kind: 'check_unreadable', what: 'account_name', why: ended.message },
        };
      if (ended) return { kind: 'trouble', why: ended.message };
      turn.onProgress(known + Math.min(from + some.length, page.payouts));
    }
    known += page.payouts;
    after = page.next;
  }
  turn.onProgress(known);
  const { count, first } = await otherNames(ledger.db, turn.batch);
  return { kind: 'compared', reason: count === 0 ? null : { kind: 'account_names', count, first } };
}

type Said = Beneficiary & { name: string | null; message: string };

/** Asks about some accounts at once; `ended`: why it stopped before all were asked. */
async function askSome(
  deps: Deps,
  accounts: readonly Beneficiary[],
  signal: AbortSignal | undefined,
): Promise<{ names: Said[]; ended: ServiceTrouble | null }> {
  const queue = [...accounts];
  const names: Said[] = [];
  let silent = 0;
  let ended: ServiceTrouble | null = null;
  const lane = async (): Promise<void> => {
    while (!ended && !signal?.aborted) {
      const account = queue.shift();
      if (!account) return;
      const answer = await patiently<AccountName>(
        deps,
        () => deps.service.accountName(deps.path, account),
        signal,
      );
      if (!answer) return;
      if (answer.kind === 'name') {
        silent = 0;
        names.push({ ...account, name: answer.name, message: answer.message });
        // One account that the service stumbles over is a finding about that account; several are an outage.
      } else if (answer.reason !== 'server_error' || ++silent >= silenceLimit) ended = answer;
    }
  };
  await Promise.all(Array.from({ length: Math.min(deps.concurrency, queue.length) }, lane));
  return { names, ended };
}
