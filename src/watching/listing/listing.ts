import { bothSaw } from '../../core/domain/list-order.ts';
import type { StagedTransfer } from '../../core/domain/listed-transfer.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { ServiceClient } from '../../core/service/types.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { runsToCarryFrom } from './carry-listed.sql.ts';
import {
  isChanged,
  isSound,
  type ListGap,
  type ListingResult,
  makeComplete,
  type Pass,
  whyUnsound,
} from './completeness.ts';
import { createAsk, type PageQuestion } from './listing-ask.ts';
import { reachOf } from './listing-edge.ts';
import { createPageMemory } from './listing-memory.ts';
import { onePass, type PassResult, type Reach } from './listing-pass.ts';
import { describeListing, dropStaged, rowsAfter } from './listings.sql.ts';
import { type Base, olderRows, trustedBase } from './short-cuts.sql.ts';
import { createSightings, type Sightings } from './sightings.ts';
import { instantText, stage } from './staging.sql.ts';

type Deps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  settings: { maxPasses: number; concurrency: number; windowDays?: number };
  /** The account that is asked (P31); absent: no other account's list was ever read. */
  account?: ServiceAccount;
};

/** `full`: list everything, without a short cut (P29). */
export type WalkOptions = { full: boolean; signal?: AbortSignal };

/** Lists transfers into the run's staging rows. Never throws for a failure of the network or the service. */
export type Listing = { walk(run: string, options?: WalkOptions): Promise<ListingResult> };

type Ask = (question: PageQuestion) => ReturnType<ReturnType<typeof createAsk>>;
type Passed = Extract<PassResult, { kind: 'pass' }>;

/** `Date` has whole seconds: after this time the next cut is past what was there before (P28). */
const nextSecondMs = 1_100;
/** Passes to keep for a full listing when a short cut fails. */
const passesForAll = 2;

/** Walks the list of transfers in passes until two in a row agree (P28), or `maxPasses` are used up. */
export function createListing(deps: Deps): Listing {
  const { ledger, clock, settings } = deps;
  const { maxPasses, concurrency, windowDays = 0 } = settings;
  const askPage = createAsk(deps);

  /** P31: a short cut must rest on a list of the account that is asked. */
  const ownBase = async (): Promise<Base | undefined> =>
    trustedBase(ledger.db, await foreignOrigins(ledger.db, deps.account ?? null));

  async function walk(run: string, options: WalkOptions = { full: true }): Promise<ListingResult> {
    const sightings = createSightings();
    try {
      return await passesOver(run, options, sightings);
    } finally {
      sightings.release();
    }
  }

  async function passesOver(run: string, options: WalkOptions, sightings: Sightings): Promise<ListingResult> {
    const { signal } = options;
    const ask: Ask = (question) => askPage({ ...question, run });
    const memory = createPageMemory(sightings);
    const base = options.full || windowDays === 0 ? undefined : await ownBase();
    const edgeDeps = { ledger, ask, settings: { windowDays } };
    let reach: Reach = base
      ? await reachOf(edgeDeps, { base, begunAt: clock.iso(), ...(signal && { signal }) })
      : { kind: 'whole' };
    const carryFrom = await runsToCarryFrom(ledger.db, run);
    const nextSecond = () => clock.sleep(nextSecondMs, signal);
    let earlier: Passed | null = null;
    let trouble = 'no two passes over the list agreed';
    let changed: boolean | null = null;
    let passes = 0;
    while (passes < maxPasses && !signal?.aborted) {
      const store = (pass: number, rows: StagedTransfer[]): Promise<void> =>
        ledger.write((trx) => stage(trx, run, pass, rows, carryFrom));
      const walked = await onePass(
        { ask, store, nextSecond, concurrency },
        {
          number: ++passes,
          sightings,
          memory,
          reach,
          earlierCut: earlier?.pass.cut ?? null,
          restless: earlier !== null && !isSound(earlier.pass),
          ...(signal && { signal }),
        },
      );
      if (walked.kind === 'no_pass') {
        trouble = walked.trouble;
        break;
      }
      if (
        earlier?.reach.kind === walked.reach.kind &&
        makeComplete(earlier.pass, walked.pass, walked.overlap)
      )
        return proven(run, { sightings, passes, earlier, later: walked, base });
      if (earlier?.reach.kind === 'whole' && walked.reach.kind === 'whole')
        changed = (changed ?? false) || isChanged(earlier.pass, walked.pass, walked.overlap);
      const why = whyUnsound(walked.pass, changed);
      // Passes that show the same agree with each other: what they disagree with is the list's own total.
      const prefix =
        walked.pass.trouble !== null || changed === false ? '' : 'no two passes over the list agreed: ';
      if (why !== null) trouble = `${prefix}${why}`;
      reach = await nextReach(walked, { ask, base, passes, ...(signal && { signal }) });
      earlier = walked;
      if (!isSound(walked.pass) && passes < maxPasses) await nextSecond();
    }
    if (signal?.aborted) trouble = 'interrupted before two passes over the list agreed';
    const seen = await describeListing(ledger, run);
    const cut = earlier?.pass.cut ?? clock.iso();
    const gap = earlier?.reach.kind === 'whole' ? await gapOf(run, earlier.pass) : undefined;
    const result = { passes, listed: sightings.size(), cut, ...seen, trouble };
    return { complete: false, ...result, ...(gap && { gap }) };
  }

  async function gapOf(run: string, { cut, total, belowCut, aheadOfCut = 0 }: Pass): Promise<ListGap> {
    return { total, shown: belowCut + aheadOfCut, ahead: await rowsAfter(ledger.db, run, cut) };
  }

  /** Concludes that two passes agree: rows that only earlier passes showed are gone. */
  async function proven(
    run: string,
    about: { sightings: Sightings; passes: number; earlier: Passed; later: Passed; base: Base | undefined },
  ): Promise<ListingResult> {
    const { sightings, passes, earlier, later, base } = about;
    const { cut } = earlier.pass;
    const from = later.reach.kind === 'window' ? later.reach.edge : '';
    if (sightings.lastShownBefore(passes - 1) > 0) {
      await dropStaged(
        ledger,
        run,
        ({ transfer_id, created_at }) =>
          created_at <= cut && created_at >= from && sightings.lastPass(transfer_id) < passes - 1,
      );
    }
    const seen = await describeListing(ledger, run);
    const result = { passes, listed: sightings.size(), cut, ...seen };
    if (later.reach.kind === 'window' && base)
      return { complete: 'window', ...result, window: { edge: later.reach.edge, base: base.run } };
    return { complete: true, ...result, order: bothSaw(earlier.order, later.order) };
  }

  /** A short cut that fails becomes a full listing, while enough passes are left for it. */
  async function nextReach(
    walked: Passed,
    now: { ask: Ask; base: Base | undefined; passes: number; signal?: AbortSignal },
  ): Promise<Reach> {
    const { reach, pass } = walked;
    if (reach.kind === 'whole' || isSound(pass)) return reach;
    if (maxPasses - now.passes <= passesForAll || pass.trouble !== null || !now.base)
      return { kind: 'whole' };
    // Fewer than counted: a transfer was created in the second of the cut, or moved. The next pass shows which.
    if (pass.belowCut < pass.total) return reach;
    const from = reach.order === 'oldest_first' ? walked.oldest : await oldestListed(now.ask, now.signal);
    const older = await olderRows(ledger.db, now.base.run, reach.edge, from);
    return pass.belowCut - reach.older + older === pass.total ? { ...reach, older } : { kind: 'whole' };
  }

  /** When the last row of a newest-first list was created: the service has removed older ones since. */
  async function oldestListed(ask: Ask, signal?: AbortSignal): Promise<string> {
    const question = { underWay: true, ...(signal && { signal }) };
    const first = await ask({ ...question, page: 1 });
    const last =
      first.kind === 'page' ? await ask({ ...question, page: Math.max(1, first.page.lastPage) }) : first;
    const rows = last.kind === 'page' ? last.page.items : [];
    return rows.map((row) => instantText(row.created_at)).toSorted()[0] ?? '';
  }

  return { walk };
}
