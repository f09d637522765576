import type { Config } from '../config.ts';
import { classifyPair, foreignTransfer, type ListedRow } from '../domain/classify.ts';
import type { ListingResult } from '../domain/completeness.ts';
import type { Found } from '../domain/discrepancy.ts';
import type { WitnessStatus } from '../domain/payout.ts';
import type { Witness } from '../domain/transition.ts';
import { hearListing as listingHeard } from '../ledger/barriers.ts';
import { closeHealed, countOpen, type SeenBy, seen } from '../ledger/discrepancies.ts';
import { type AttemptMark, markAttempts, presentPayout, unknownSince } from '../ledger/expected.ts';
import { beginRun, finishRun, pruneListings } from '../ledger/listings.ts';
import type { Ledger } from '../ledger/open.ts';
import { casesAfter, foreignAfter, pairListed } from '../ledger/pairing.ts';
import { conflictingWebhooks, type Watch, type WatchedPayout, watchedAfter } from '../ledger/watched.ts';
import type { Clock } from '../runtime/clock.ts';
import { contradicting, missing, paidAgain, returned, shift, stale, unheard, unknown } from './findings.ts';
import { recordHeard } from './record-heard.ts';
import { resendAbsent } from './resend-absent.ts';

/**
 * What a look-up of this run said of a payout; `no_answer` is no word at all. `status`: what the details showed of a
 * transfer that is ours in all it shows.
 */
export type LookedUp = { word: 'found' | 'not_found' | 'no_answer'; status: WitnessStatus | null };

/** The questions reconciliation may have asked; each answer reaches the ledger as events before the promise resolves. */
export type FollowUp = {
  lookUp(payoutIds: bigint[], signal?: AbortSignal): Promise<Map<bigint, LookedUp>>;
  /** Returns how many resends were asked for, within the throttle. */
  askResend(payoutIds: bigint[], signal?: AbortSignal): Promise<number>;
};

type Deps = {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  /** Lists every transfer into the run's staging rows (observation). */
  listing: { walk(run: string, signal?: AbortSignal): Promise<ListingResult> };
  followUp: FollowUp;
};

const notOurs =
  'the list shows none of the payouts that the service is known to have: does the key belong to this ledger’s account?';

/** What `reconcile --json` prints (contract.md); `trouble` says why a listing is incomplete. */
export type RunSummary = {
  run: string;
  complete: boolean | 'window';
  passes: number;
  listed: number;
  matched: number;
  discrepancies: { open: Record<string, number>; opened: number; resolved: number };
  lookups: number;
  resends: number;
  /** Payouts ordered once more because their absence is confirmed (P16); not said when there are none. */
  resubmitted?: number;
  reports: string[];
  trouble?: string;
};

/** `full` changes nothing until there is a window: every run pages everything. */
export type RunOptions = { full: boolean; followUp: boolean; signal?: AbortSignal };

export type Reconciliation = {
  run(options: RunOptions): Promise<RunSummary>;
  /** Lists and tells the ledger what the list proves, and no more: the cheap answer when many are unknown (P19). */
  hear(signal?: AbortSignal): Promise<void>;
};

/** `begunAt`, `mark`: before the first page was asked for. */
type Work = { by: SeenBy; begunAt: string; mark: AttemptMark; listing: ListingResult; opened: number };
type Asked = Map<bigint, LookedUp>;

const chunk = 500;
const keptListings = 3;
const minute = 60_000;

/** Lists, pairs, inquires, concludes, asks for resends and writes what differs; the books of one mode. */
export function createReconciliation(deps: Deps): Reconciliation {
  const { ledger, config, clock, followUp } = deps;
  const { mode } = config;
  const settings = config.reconciliation;

  async function run(options: RunOptions): Promise<RunSummary> {
    const { signal } = options;
    const { work, disputed } = await listAndHear(signal);
    const { listing, by } = work;
    const id = by.run;
    const asked: Asked = options.followUp ? await inquire(work, disputed, signal) : new Map();
    const matched = await pairListed(ledger, id, mode);
    await concludePairs(work);
    await concludeForeign(work);
    await concludeMissing(work, asked);
    const resubmitted = options.full ? await concludeAbsent(work, asked) : 0;
    const unheardIds = await concludeLedger(work);
    const resends =
      options.followUp && unheardIds.length > 0 ? await followUp.askResend(unheardIds, signal) : 0;
    const answered = [...asked].flatMap(([payoutId, { word }]) => (word === 'found' ? [payoutId] : []));
    const sight = { complete: listing.complete, answered };
    const resolved = await ledger.write((trx) => closeHealed(trx, by, sight));
    // A list that shows none of what the service has, to a key whose details show none either, is not our account's.
    const ours = matched > 0 || answered.length > 0 || (await presentPayout(ledger.db, mode)) === undefined;
    const trouble = listing.trouble ?? (ours ? undefined : notOurs);
    const summary: RunSummary = {
      run: id,
      complete: listing.complete,
      passes: listing.passes,
      listed: listing.listed,
      matched,
      discrepancies: { open: await countOpen(ledger.db, mode), opened: work.opened, resolved },
      lookups: asked.size,
      resends,
      ...(resubmitted > 0 && { resubmitted }),
      reports: [],
      ...(trouble !== undefined && { trouble }),
    };
    await ledger.write(async (trx) => {
      await finishRun(trx, id, clock.iso(), summary);
      // P25: all that a complete list shows is matched now.
      if (listing.complete === true && ours) await listingHeard(trx, mode, work.begunAt);
    });
    await pruneListings(ledger, mode, keptListings);
    return summary;
  }

  async function listAndHear(signal?: AbortSignal): Promise<{ work: Work; disputed: bigint[] }> {
    const mark = await markAttempts(ledger.db);
    const begunAt = clock.iso();
    const id = await ledger.write((trx) => beginRun(trx, mode, begunAt));
    const listing = await deps.listing.walk(id, signal);
    const work: Work = { by: { run: id, mode, at: clock.iso() }, begunAt, mark, listing, opened: 0 };
    await pairListed(ledger, id, mode);
    return { work, disputed: await hearList(work) };
  }

  /** Tells the ledger what the list proves, and returns the payouts whose final state it contradicts. */
  async function hearList(work: Work): Promise<bigint[]> {
    const disputed: bigint[] = [];
    for (let after = 0n; ; ) {
      const cases = await casesAfter(ledger.db, work.by.run, mode, after, chunk);
      const last = cases.at(-1);
      if (!last) return disputed;
      after = last.payout.id;
      const witnesses = new Map<bigint, Witness>();
      const found: Found[] = [];
      for (const { payout, rows } of cases) {
        const judgement = classifyPair(payout, rows, work.listing.complete);
        const conflict = judgement.found.filter((one) => one.kind === 'status_conflict');
        if (conflict.length > 0) disputed.push(payout.id);
        if (!judgement.witness) continue;
        witnesses.set(payout.id, judgement.witness);
        // A refusal that the list overturns is over once recorded: this is the only moment to report it (P14).
        found.push(...conflict);
      }
      work.opened += await recordHeard(ledger, work, { witnesses, found });
    }
  }

  /** Details look-ups for what the list left open: missing, unknown and contradicted payouts. */
  async function inquire({ by, listing }: Work, disputed: bigint[], signal?: AbortSignal): Promise<Asked> {
    const open = new Set(disputed);
    await each({ kind: 'unknown' }, async (payouts) => {
      for (const { id } of payouts) open.add(id);
    });
    await each(unlisted({ by, listing }), async (payouts) => {
      // Without a complete listing nothing can be called missing: only what may still move is worth a question.
      for (const { id, state } of payouts) if (listing.complete || state === 'pending') open.add(id);
    });
    return open.size === 0 ? new Map() : followUp.lookUp([...open], signal);
  }

  async function concludePairs(work: Work): Promise<void> {
    for (let after = 0n; ; ) {
      const cases = await casesAfter(ledger.db, work.by.run, mode, after, chunk);
      const last = cases.at(-1);
      if (!last) return;
      after = last.payout.id;
      const found = cases.flatMap(
        ({ payout, rows }) => classifyPair(payout, rows, work.listing.complete).found,
      );
      await report(work, found);
    }
  }

  async function concludeForeign(work: Work): Promise<void> {
    const since = settings.since === '' ? ledger.birth : settings.since;
    for (let after = ''; ; ) {
      const rows: ListedRow[] = await foreignAfter(ledger.db, work.by.run, since, after, chunk);
      const last = rows.at(-1);
      if (!last) return;
      after = last.transfer_id;
      await report(work, rows.map(foreignTransfer));
    }
  }

  async function concludeMissing(work: Work, asked: Asked): Promise<void> {
    if (!work.listing.complete) return;
    await each(unlisted(work), async (payouts) => {
      const gone = payouts.filter(({ id }) => asked.get(id)?.word === 'not_found');
      await report(
        work,
        gone.map((payout) => missing(payout, work.listing.cut)),
      );
    });
  }

  /** P16: only by configuration, only on a complete listing of everything; otherwise unknowns wait for a person. */
  async function concludeAbsent({ by, begunAt, listing }: Work, asked: Asked): Promise<number> {
    if (config.submission.resubmit !== 'confirmed_absent' || !listing.complete) return 0;
    const about = {
      mode,
      run: by.run,
      at: clock.iso(),
      listing: { ...listing, full: true, begunAt },
      quietPeriodMs: config.submission.quietPeriodMinutes * minute,
    };
    let ordered = 0;
    await each({ kind: 'unknown' }, async (payouts) => {
      const ids = payouts.flatMap(({ id }) => (asked.get(id)?.word === 'not_found' ? [id] : []));
      ordered += await resendAbsent(ledger, ids, about);
    });
    return ordered;
  }

  /** What the ledger alone shows; returns the payouts whose webhook was never heard. */
  async function concludeLedger(work: Work): Promise<bigint[]> {
    const { at, run: id } = work.by;
    const now = clock.iso();
    const minutes = config.submission.quietPeriodMinutes;
    await each({ kind: 'unknown' }, async (payouts) => {
      const ids = payouts.map(({ id: payoutId }) => payoutId);
      const sinceOf = await unknownSince(ledger.db, ids);
      const since = (one: WatchedPayout): string =>
        sinceOf.get(one.id) ?? one.ended_at ?? one.submitted_at ?? now;
      await report(
        work,
        payouts.map((payout) => unknown(payout, { since: since(payout), minutes, now })),
      );
    });
    const submittedBy = shift(now, -settings.stalePendingHours * 60 * minute);
    await each({ kind: 'stale', run: id, submittedBy }, (payouts) => report(work, payouts.map(stale)));
    await each({ kind: 'returned' }, (payouts) => report(work, payouts.map(returned)));
    await each({ kind: 'paid_again' }, (payouts) => report(work, payouts.map(paidAgain)));
    const unheardIds: bigint[] = [];
    if (config.receiver.enabled) {
      const finalBy = shift(now > at ? now : at, -settings.webhookGraceMinutes * minute);
      await each({ kind: 'unheard', finalBy }, async (payouts) => {
        for (const { id: payoutId } of payouts) unheardIds.push(payoutId);
        await report(work, payouts.map(unheard));
      });
    }
    for (let after = 0n; ; ) {
      const webhooks = await conflictingWebhooks(ledger.db, mode, after, chunk);
      const last = webhooks.at(-1);
      if (!last) return unheardIds;
      after = last.id;
      await report(work, webhooks.map(contradicting));
    }
  }

  function unlisted({ by, listing }: Pick<Work, 'by' | 'listing'>): Watch {
    return {
      kind: 'unlisted',
      run: by.run,
      endedBy: shift(listing.cut, -settings.missingGraceMinutes * minute),
    };
  }

  async function each(watch: Watch, work: (payouts: WatchedPayout[]) => Promise<void>): Promise<void> {
    for (let after = 0n; ; ) {
      const payouts = await watchedAfter(ledger.db, mode, watch, after, chunk);
      const last = payouts.at(-1);
      if (!last) return;
      after = last.id;
      await work(payouts);
    }
  }

  async function report(work: Work, found: Found[]): Promise<void> {
    if (found.length > 0) work.opened += await ledger.write((trx) => seen(trx, work.by, found));
  }

  return {
    run,
    async hear(signal) {
      await listAndHear(signal);
      await pruneListings(ledger, mode, keptListings);
    },
  };
}
