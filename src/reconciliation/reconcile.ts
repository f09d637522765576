import type { Config } from '../config.ts';
import { classifyPair, foreignTransfer, type ListedRow } from '../domain/classify.ts';
import type { ListingResult } from '../domain/completeness.ts';
import type { Found } from '../domain/discrepancy.ts';
import { closeHealed, countOpen, type SeenBy, seen } from '../ledger/discrepancies.ts';
import { beginRun, finishRun, pruneListings } from '../ledger/listings.ts';
import type { Ledger } from '../ledger/open.ts';
import { casesAfter, foreignAfter, pairListed } from '../ledger/pairing.ts';
import { type RecordEvent, record } from '../ledger/record.ts';
import { conflictingWebhooks, type Watch, type WatchedPayout, watchedAfter } from '../ledger/watched.ts';
import type { Clock } from '../runtime/clock.ts';
import { contradicting, missing, returned, shift, stale, unheard, unknown } from './findings.ts';

/** What a look-up of this run said of a payout; `no_answer` is no word at all. */
export type LookedUp = 'found' | 'not_found' | 'no_answer';

/** The questions reconciliation may have asked; each answer reaches the ledger as events before the promise resolves. */
export type FollowUp = {
  lookUp(payoutIds: bigint[]): Promise<Map<bigint, LookedUp>>;
  /** Returns how many resends were asked for, within the throttle. */
  askResend(payoutIds: bigint[]): Promise<number>;
};

type Deps = {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  /** Lists every transfer into the run's staging rows (observation). */
  listing: { walk(run: string, signal?: AbortSignal): Promise<ListingResult> };
  followUp: FollowUp;
};

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
  reports: string[];
  trouble?: string;
};

/** `full` changes nothing until there is a window: every run pages everything. */
export type RunOptions = { full: boolean; followUp: boolean; signal?: AbortSignal };

export type Reconciliation = { run(options: RunOptions): Promise<RunSummary> };

type Work = { by: SeenBy; listing: ListingResult; opened: number };

const chunk = 500;
const keptListings = 3;
const minute = 60_000;

/** Lists, pairs, inquires, concludes, asks for resends and writes what differs; the books of one mode. */
export function createReconciliation(deps: Deps): Reconciliation {
  const { ledger, config, clock, followUp } = deps;
  const { mode } = config;
  const settings = config.reconciliation;

  async function run(options: RunOptions): Promise<RunSummary> {
    const at = clock.iso();
    const id = await ledger.write((trx) => beginRun(trx, mode, at));
    const listing = await deps.listing.walk(id, options.signal);
    const work: Work = { by: { run: id, mode, at: clock.iso() }, listing, opened: 0 };
    await pairListed(ledger, id, mode);
    const disputed = await hearListing(work);
    const asked = options.followUp ? await inquire(work, disputed) : new Map<bigint, LookedUp>();
    const matched = await pairListed(ledger, id, mode);
    await concludePairs(work);
    await concludeForeign(work);
    await concludeMissing(work, asked);
    const unheardIds = await concludeLedger(work);
    const resends = options.followUp && unheardIds.length > 0 ? await followUp.askResend(unheardIds) : 0;
    const answered = [...asked].flatMap(([payoutId, word]) => (word === 'found' ? [payoutId] : []));
    const sight = { complete: listing.complete, answered };
    const resolved = await ledger.write((trx) => closeHealed(trx, work.by, sight));
    const summary: RunSummary = {
      run: id,
      complete: listing.complete,
      passes: listing.passes,
      listed: listing.listed,
      matched,
      discrepancies: { open: await countOpen(ledger.db, mode), opened: work.opened, resolved },
      lookups: asked.size,
      resends,
      reports: [],
      ...(listing.trouble === undefined ? {} : { trouble: listing.trouble }),
    };
    await ledger.write((trx) => finishRun(trx, id, clock.iso(), summary));
    await pruneListings(ledger, mode, keptListings);
    return summary;
  }

  /** Tells the ledger what the list proves, and returns the payouts whose final state it contradicts. */
  async function hearListing(work: Work): Promise<bigint[]> {
    const { by } = work;
    const disputed: bigint[] = [];
    for (let after = 0n; ; ) {
      const cases = await casesAfter(ledger.db, by.run, mode, after, chunk);
      const last = cases.at(-1);
      if (!last) return disputed;
      after = last.payout.id;
      const events: RecordEvent[] = [];
      const found: Found[] = [];
      for (const { payout, rows } of cases) {
        const judgement = classifyPair(payout, rows);
        const conflict = judgement.found.filter((one) => one.kind === 'status_conflict');
        if (conflict.length > 0) disputed.push(payout.id);
        // A refusal that the list overturns is over once recorded: this is the only moment to report it (P14).
        if (judgement.witness) found.push(...conflict);
        if (judgement.witness) {
          events.push({
            payoutId: payout.id,
            source: 'listing',
            event: { kind: 'witness', witness: judgement.witness },
          });
        }
      }
      await ledger.write(async (trx) => {
        await record(trx, by.at, events);
        work.opened += await seen(trx, by, found);
      });
    }
  }

  /** Details look-ups for what the list left open: missing, unknown and contradicted payouts. */
  async function inquire({ by, listing }: Work, disputed: bigint[]): Promise<Map<bigint, LookedUp>> {
    const open = new Set(disputed);
    await each({ kind: 'unknown' }, async (payouts) => {
      for (const { id } of payouts) open.add(id);
    });
    await each(unlisted({ by, listing }), async (payouts) => {
      // Without a complete listing nothing can be called missing: only what may still move is worth a question.
      for (const { id, state } of payouts) if (listing.complete || state === 'pending') open.add(id);
    });
    return open.size === 0 ? new Map() : followUp.lookUp([...open]);
  }

  async function concludePairs(work: Work): Promise<void> {
    for (let after = 0n; ; ) {
      const cases = await casesAfter(ledger.db, work.by.run, mode, after, chunk);
      const last = cases.at(-1);
      if (!last) return;
      after = last.payout.id;
      await report(
        work,
        cases.flatMap(({ payout, rows }) => classifyPair(payout, rows).found),
      );
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

  async function concludeMissing(work: Work, asked: Map<bigint, LookedUp>): Promise<void> {
    if (!work.listing.complete) return;
    await each(unlisted(work), async (payouts) => {
      const gone = payouts.filter(({ id }) => asked.get(id) === 'not_found');
      await report(
        work,
        gone.map((payout) => missing(payout, work.listing.cut)),
      );
    });
  }

  /** What the ledger alone shows; returns the payouts whose webhook was never heard. */
  async function concludeLedger(work: Work): Promise<bigint[]> {
    const { at, run: id } = work.by;
    const now = clock.iso();
    await each({ kind: 'unknown' }, (payouts) =>
      report(
        work,
        payouts.map((payout) => unknown(payout, config.submission.quietPeriodMinutes, now)),
      ),
    );
    const submittedBy = shift(now, -settings.stalePendingHours * 60 * minute);
    await each({ kind: 'stale', run: id, submittedBy }, (payouts) => report(work, payouts.map(stale)));
    await each({ kind: 'returned' }, (payouts) => report(work, payouts.map(returned)));
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

  return { run };
}
