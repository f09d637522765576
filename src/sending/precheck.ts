import { formatMinor } from '../core/domain/money.ts';
import { addHoldReason, type HoldReason, type Shortfall } from '../core/ledger/hold-reasons.ts';
import { type Clock, elapsedSince, type Moment, momentOf } from '../core/runtime/clock.ts';
import type { RateLimiter } from '../core/runtime/rate-limiter.ts';
import { balanceMinor } from '../core/service/extras.ts';
import type { Balances, ServiceClient, ServiceTrouble } from '../core/service/types.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { compareNames } from './account-names.ts';
import { holdBatch } from './holds.sql.ts';
import { patiently } from './patient-question.ts';
import {
  batchesToCheck,
  batchVersion,
  expireLooks,
  forgetNames,
  freshMs,
  noteWait,
  setPrecheck,
  type Unchecked,
} from './precheck.sql.ts';
import { needs, possibleCurrencies } from './wallet-needs.sql.ts';

/** How long one turn may ask: other batches must not wait until a large one is checked. */
const turnMs = 20_000;

/** How far the look at a batch is, in payouts. */
export type CheckProgress = { batch: string; known: number; count: number };

type Deps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'walletBalance' | 'accountName'>;
  limiter: Pick<RateLimiter, 'take'>;
  concurrency: number;
  /** The paths of the endpoints; an empty one is off. */
  extras: { balance: string; account_name: string };
  /** The newest day whose payouts may go (P38). */
  day(): string;
  /** The currencies that the configuration names. */
  configured: readonly string[];
  /** Called where batches wait, since the service gave no answer. */
  onTrouble?: (why: string) => void;
};

/** `more`: another turn goes on. `trouble`: batches wait, since the service gave no answer. */
type Checked = { kind: 'done' | 'more' } | { kind: 'trouble'; why: string };

type Request = {
  batches?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: CheckProgress) => void) | undefined;
};

/**
 * Looks ahead before the first payout of each batch, where the configuration switches that on: does the wallet hold enough,
 * and are the accounts those of the named people? What differs holds the batch. The answers decide nothing else: they are
 * no evidence about any payout. No question is asked inside a transaction.
 */
export function createPrechecks(deps: Deps) {
  const { ledger, clock, extras } = deps;
  const isOn = extras.balance !== '' || extras.account_name !== '';

  /** Looks at the batches that wait, for one turn. */
  async function run({ batches: only, signal, onProgress }: Request = {}): Promise<Checked> {
    if (!isOn) return { kind: 'done' };
    await expireLooks(ledger, clock.iso());
    const all = await batchesToCheck(ledger.db, deps.day());
    const waiting = only ? all.filter(({ batch }) => only.includes(batch)) : all;
    if (waiting.length === 0) return { kind: 'done' };
    const wallet = onceAsked(deps, signal);
    const until = clock.monotonic() + turnMs;
    let trouble: Checked | null = null;
    for (const one of waiting) {
      if (signal?.aborted || clock.monotonic() > until) return { kind: 'more' };
      const turn = {
        until,
        signal,
        onProgress: (known: number) => onProgress?.({ batch: one.batch, known, count: one.count }),
      };
      const checked = await check(one, turn, wallet);
      if (checked.kind === 'more') return checked;
      if (checked.kind !== 'trouble') continue;
      trouble = checked;
      deps.onTrouble?.(checked.why);
    }
    return trouble ?? { kind: 'done' };
  }

  type Turn = { until: number; signal: AbortSignal | undefined; onProgress(known: number): void };

  async function check(one: Unchecked, turn: Turn, wallet: Wallet): Promise<Checked> {
    const { batch } = one;
    const version = await batchVersion(ledger.db, batch);
    const reasons: HoldReason[] = [];
    let at = clock.iso();
    if (extras.account_name !== '' && one.state !== 'named') {
      const names = await compareNames({ ...deps, path: extras.account_name }, { batch, ...turn });
      if (names.kind === 'trouble') return wait(batch, names.why);
      if (names.kind === 'more') return names;
      if (names.reason) reasons.push(names.reason);
      else if (!(await note(batch, 'named', { version, at: clock.iso() }))) return { kind: 'more' };
    }
    if (extras.balance !== '') {
      const { answer: balance, askedAt } = await wallet();
      if (!balance) return { kind: 'more' };
      if (balance.kind === 'trouble' && !isFinal(balance)) return wait(batch, balance.message);
      reasons.push(...(await balanceReasons(batch, balance)));
      if (elapsedSince(clock, askedAt) >= freshMs)
        return wait(batch, 'the balance was too old when its answer could be used');
      at = new Date(askedAt.wall).toISOString();
    }
    return { kind: (await conclude(batch, reasons, { version, at })) ? 'done' : 'more' };
  }

  /** Leaves the batch to wait, and keeps why: a person may end the wait (P32). */
  async function wait(batch: string, why: string): Promise<Checked> {
    await ledger.write((trx) => noteWait(trx, batch, why));
    return { kind: 'trouble', why };
  }

  /** The batch's version when the look began, and when the service was asked. */
  type Look = { version: bigint; at: string };

  function note(batch: string, state: 'named' | 'clear', look: Look): Promise<boolean> {
    return ledger.write((trx) => setState(trx, batch, state, look));
  }

  async function setState(
    trx: Trx,
    batch: string,
    state: 'named' | 'clear' | 'held',
    look: Look,
  ): Promise<boolean> {
    const isSet = await setPrecheck(trx, batch, { state, ...look });
    await forgetNames(trx);
    return isSet;
  }

  /** Why the wallet does not pay for a batch, if so. A currency that the answer leaves out is not known to be there. */
  async function balanceReasons(batch: string, balance: Balances | ServiceTrouble): Promise<HoldReason[]> {
    const unreadable = (why: string): HoldReason[] => [{ kind: 'check_unreadable', what: 'balance', why }];
    if (balance.kind === 'trouble') return unreadable(balance.message);
    const currencies = await possibleCurrencies(ledger.db, deps.configured);
    if (balance.unnamed !== null && currencies.length > 1)
      return unreadable(`it names no currency, and more than one is possible here: ${currencies.join(', ')}`);
    const short: Shortfall[] = [];
    for (const { currency, own, earlier } of await needs(ledger.db, batch, deps.day())) {
      const has = balance.minor.get(currency) ?? balanceMinor(balance.unnamed, currency);
      if (has === null) return unreadable(`it names no ${currency}`);
      if (own + earlier <= has) continue;
      const text = (minor: bigint): string => formatMinor(minor, currency);
      short.push({ currency, balance: text(has), needed: text(own), earlier: text(earlier) });
    }
    return short.length === 0 ? [] : [{ kind: 'balance', short }];
  }

  /** Returns false where the batch changed meanwhile, so that the look counts for nothing. */
  async function conclude(batch: string, reasons: readonly HoldReason[], look: Look): Promise<boolean> {
    const [reason] = reasons;
    if (!reason) return note(batch, 'clear', look);
    let isOurs = false;
    const finding = async (trx: Trx): Promise<boolean> => {
      isOurs = await setState(trx, batch, 'held', look);
      if (isOurs) for (const one of reasons) await addHoldReason(trx, batch, one);
      return isOurs;
    };
    await holdBatch(ledger, { batch, at: clock.iso(), source: 'brake', reason, finding });
    return isOurs;
  }

  return { run };
}

/** `askedAt`: when the question that was answered began. */
type Wallet = () => Promise<{ answer: Balances | ServiceTrouble | undefined; askedAt: Moment }>;

/** Asks for the balances at most once: all batches of a turn are measured by one answer. */
function onceAsked({ service, extras, ...patience }: Deps, signal: AbortSignal | undefined): Wallet {
  async function ask(): ReturnType<Wallet> {
    let askedAt = momentOf(patience.clock);
    const once = () => {
      askedAt = momentOf(patience.clock);
      return service.walletBalance(extras.balance);
    };
    return { answer: await patiently<Balances>(patience, once, signal), askedAt };
  }
  let said: ReturnType<Wallet> | undefined;
  return () => {
    said ??= ask();
    return said;
  };
}

function isFinal({ reason }: ServiceTrouble): boolean {
  return reason === 'not_understood' || reason === 'unauthorised';
}
