import type { FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import { sentInside } from '../../core/domain/list-order.ts';
import type { Standpoint } from '../../core/domain/origin.ts';
import type { ListStanding } from '../../core/domain/verdict.ts';
import { later } from '../../core/domain/wait.ts';
import type { Witness } from '../../core/domain/witness.ts';
import { awaitsListing, noteListAfterAdoption } from '../../core/ledger/barriers.ts';
import { newestHistory } from '../../core/ledger/history.ts';
import { markAttempts } from '../../core/ledger/known.ts';
import { foreignOrigins, noteSameAccounts } from '../../core/ledger/origins.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { RunSummary } from '../../core/shapes/run-shapes.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { renewStatistics } from '../../core/storage/statistics.ts';
import { contradictedIds } from '../../watching/evidence/contradicted.sql.ts';
import type { ListingResult } from '../../watching/listing/completeness.ts';
import { beginRun, finishRun, showsOurs } from '../../watching/listing/listings.sql.ts';
import { pairListed } from '../../watching/listing/pairing.sql.ts';
import { pruneListings } from '../../watching/listing/prune-listings.sql.ts';
import { missedByShortCuts, noteListing, orderDistrusted } from '../../watching/listing/short-cuts.sql.ts';
import { forgedReported } from '../../watching/webhooks/webhook-figures.sql.ts';
import type { CollectionRun } from './conclude-collections.ts';
import { countOpen, renewSeverity, type SeenBy } from './discrepancies.sql.ts';
import { closeHealed } from './discrepancy-healing.sql.ts';
import { judgeCases } from './judge-cases.ts';
import { listStandingOf, standingTroubles } from './our-account.ts';
import { pairCases } from './pair-cases.sql.ts';
import type { FollowUp, LookedUp } from './questions.ts';
import { createConclusions } from './record-findings.ts';
import { type Heard, recordHeard } from './record-heard.ts';
import { resendAbsent } from './resend-absent.ts';
import { countCollisions } from './run-facts.sql.ts';
import type { FirstLook } from './second-look.sql.ts';
import { wantsCompleteList } from './turned.sql.ts';
import { concludeTurned } from './turned.ts';
import { judgeWaitedList } from './unproven-list.ts';
import { createWatch, type Work } from './watch.ts';

type Deps = {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  /** Lists transfers into the run's staging rows (observation). */
  listing: { walk(run: string, options: { full: boolean; signal?: AbortSignal }): Promise<ListingResult> };
  followUp: FollowUp;
  /** Whose list it is (P31); absent: nothing is concluded from what it lacks. */
  standpoint?: Standpoint;
  /** What a run does beside payouts: collections, and how webhooks arrive. */
  collections?: { conclude(by: SeenBy, options: RunOptions): Promise<CollectionRun> };
};

/** `full`: everything is listed; without it a short cut may do (P29). */
export type RunOptions = { full: boolean; followUp: boolean; signal?: AbortSignal };

export type Reconciliation = {
  run(options: RunOptions): Promise<RunSummary>;
  /** Lists and tells the ledger what the list proves, and no more: the cheap answer when many are unknown (P19). */
  hear(signal?: AbortSignal): Promise<void>;
};

type Asked = Map<bigint, LookedUp>;

/** The payouts whose final state a list contradicts; `turned`: those among them that it shows as failed after success. */
type Doubtful = { disputed: bigint[]; turned: Map<bigint, Witness> };

/** Payouts judged in one go: few enough that what is read for them is forgotten cheaply. */
const chunk = 250;
/** So many goes are recorded in one transaction. */
const goesPerCommit = 4;
const keptListings = 3;
const minute = 60_000;

/** Lists, pairs, inquires, concludes, asks for resends and writes what differs. */
export function createReconciliation(deps: Deps): Reconciliation {
  const { ledger, config, clock, followUp } = deps;
  const { each, unlisted, whole } = createWatch({
    ledger,
    graceMinutes: config.reconciliation.missingGraceMinutes,
  });
  const conclusions = createConclusions({ ledger, config, clock, standpoint: deps.standpoint });

  async function run(options: RunOptions): Promise<RunSummary> {
    const { signal } = options;
    const { returnHours } = config.reconciliation;
    const full =
      options.full || (await wantsCompleteList(ledger.db, later(clock.iso(), -returnHours * 60 * minute)));
    const { work, disputed, turned, missed } = await listAndHear(full, signal);
    const { listing, by } = work;
    const id = by.run;
    const asked: Asked = options.followUp ? await inquire(work, disputed, signal) : new Map();
    const paired = await pairListed(ledger, id, (payoutId) => work.look.paired.add(payoutId));
    const answered = [...asked].flatMap(([payoutId, { word }]) => (word === 'found' ? [payoutId] : []));
    const shown = answered.length > 0 || (await showsOurs(ledger.db, id, await foreign()));
    const standing = await listStandingOf(ledger.db, { listing, shown });
    const ours = standing !== 'not_ours';
    if (ours) await concludeTurned({ ledger, standpoint: deps.standpoint, returnHours }, work, turned, asked);
    await conclusions.listing(work, asked, ours);
    const matched = paired - (await countCollisions(ledger.db, id));
    const resubmitted = options.full ? await concludeAbsent(work, asked) : 0;
    await followUp.applyStored?.(signal);
    const unheardIds = await conclusions.ledger(work);
    const resends =
      options.followUp && unheardIds.length > 0 ? await followUp.askResend(unheardIds, signal) : 0;
    const beside = await deps.collections?.conclude(by, options);
    work.opened += beside?.opened ?? 0;
    const sight = {
      complete: listing.complete === true && ours,
      oldest: listing.oldestCreatedAt,
      answered,
      judgedSince: listing.window ? sentInside(listing.window.edge) : '',
      receives: config.receiver.enabled,
      foreign: await foreign(),
    };
    const resolved = await closeHealed(ledger, by, sight);
    await ledger.write((trx) => renewSeverity(trx, by.at));
    const trouble = listing.trouble ?? standingTroubles[standing];
    const summary: RunSummary = {
      run: id,
      complete: listing.complete,
      list: standing,
      passes: listing.passes,
      listed: listing.listed,
      matched,
      discrepancies: { open: await countOpen(ledger.db), opened: work.opened, resolved },
      lookups: asked.size,
      resends: resends + (beside?.resends ?? 0),
      ...beside?.figures,
      ...(resubmitted > 0 && { resubmitted }),
      ...(missed > 0 && { short_cut: { missed } }),
      reports: [],
      ...(trouble !== undefined && { trouble }),
    };
    const waited = await judgeForAdopted(work, standing, options);
    await ledger.write(async (trx) => {
      const now = clock.iso();
      await finishRun(trx, id, now, standing);
      if (beside) await forgedReported(trx, beside.figures.webhooks.forged);
      // P25: all that the list shows is matched now.
      if (waited)
        await noteListAfterAdoption(trx, {
          startedAt: work.begunAt,
          now,
          ...(waited !== 'proven' && { unproven: waited }),
        });
    });
    await pruneListings(ledger, keptListings, await foreign());
    return summary;
  }

  async function listAndHear(
    full: boolean,
    signal?: AbortSignal,
  ): Promise<{ work: Work; missed: number } & Doubtful> {
    const mark = await markAttempts(ledger.db);
    const begunAt = clock.iso();
    const id = await ledger.write((trx) => beginRun(trx, begunAt, deps.standpoint?.originId));
    const listing = await deps.listing.walk(id, { full, ...(signal && { signal }) });
    await renewStatistics(ledger.db, 'listed');
    const missed = await noteOrder(id, listing, full);
    await pairListed(ledger, id);
    await noteAccount(id);
    const look: FirstLook = { mark: await newestHistory(ledger.db), walked: [], paired: new Set() };
    const work: Work = { by: { run: id, at: clock.iso() }, begunAt, mark, listing, look, opened: 0 };
    return { work, missed, ...(await hearList(work)) };
  }

  /** P31: a list that shows what was sent with another key, or to another address, is of the same account. */
  async function noteAccount(run: string): Promise<void> {
    const { standpoint } = deps;
    if (standpoint) await ledger.write((trx) => noteSameAccounts(trx, run, standpoint, clock.iso()));
  }

  /** P25: what the list means for an adopted ledger that waits for one; null where it means nothing. */
  async function judgeForAdopted({ by, listing }: Work, standing: ListStanding, options: RunOptions) {
    const isCut = listing.complete === false && (!options.full || options.signal?.aborted === true);
    if (isCut || !(await awaitsListing(ledger.db))) return null;
    return judgeWaitedList(ledger.db, { run: by.run, listing, standing, ...whoseList() });
  }

  function whoseList(): { originId: bigint; address: string } {
    return { originId: deps.standpoint?.originId ?? 0n, address: config.service.baseUrl };
  }

  /** The origins that are not known to be this account's (P31). */
  function foreign(): Promise<bigint[]> {
    return foreignOrigins(ledger.db, deps.standpoint?.account ?? null);
  }

  /**
   * P29: a whole listing checks the short cuts before it; one that missed something is trusted after a full run only.
   */
  async function noteOrder(run: string, listing: ListingResult, full: boolean): Promise<number> {
    const others = await foreign();
    const missed = listing.complete === true ? await missedByShortCuts(ledger.db, run, others) : 0;
    const distrusted = missed > 0 || (!full && (await orderDistrusted(ledger.db, others)));
    await ledger.write((trx) => noteListing(trx, run, listing, distrusted ? 'distrusted' : listing.order));
    return missed;
  }

  /** Tells the ledger what the list proves, and returns the payouts whose final state it contradicts. */
  async function hearList(work: Work): Promise<Doubtful> {
    const disputed: bigint[] = [];
    const turned = new Map<bigint, Witness>();
    let heard: Heard[] = [];
    const about = { run: work.by.run, walked: work.look.walked };
    for await (const cases of pairCases(ledger.db, about, chunk)) {
      const witnesses = new Map<bigint, Witness>();
      const found: FoundDiscrepancy[] = [];
      const judged = await judgeCases(ledger.db, deps.standpoint, whole(work, cases), work.listing.complete);
      for (const { payout, witness, turned: failed, found: differing } of judged) {
        if (failed) turned.set(payout.id, failed);
        const conflict = differing.filter((one) => one.kind === 'status_conflict');
        if (conflict.length > 0) disputed.push(payout.id);
        if (!witness) continue;
        witnesses.set(payout.id, witness);
        // A refusal that the list overturns is over once recorded: this is the only moment to report it (P14).
        found.push(...conflict);
      }
      heard.push({ witnesses, found });
      if (heard.length < goesPerCommit) continue;
      work.opened += await recordHeard(ledger, work, heard);
      heard = [];
    }
    work.opened += await recordHeard(ledger, work, heard);
    return { disputed, turned };
  }

  /** Details look-ups for what the list left open: missing, unknown and contradicted payouts. */
  async function inquire(work: Work, disputed: bigint[], signal?: AbortSignal): Promise<Asked> {
    const open = new Set(disputed);
    await each({ kind: 'unknown' }, async (payouts) => {
      for (const { id } of payouts) open.add(id);
    });
    await each(unlisted(work), async (payouts) => {
      // Without a complete listing nothing can be called missing: only what may still move is worth a question.
      for (const { id, state } of payouts) if (work.listing.complete || state === 'pending') open.add(id);
    });
    for (const id of await contradictedIds(ledger.db)) open.add(id);
    return open.size === 0 ? new Map() : followUp.lookUp([...open], signal);
  }

  /** P16: only by configuration, only on a complete listing of everything; otherwise unknowns wait for a person. */
  async function concludeAbsent({ by, begunAt, listing }: Work, asked: Asked): Promise<number> {
    if (config.submission.resubmit !== 'confirmed_absent' || listing.complete !== true) return 0;
    const about = {
      run: by.run,
      at: clock.iso(),
      listing: { ...listing, complete: listing.complete, full: true, begunAt },
      quietPeriodMs: config.submission.quietPeriodMinutes * minute,
      account: deps.standpoint?.account ?? null,
      config,
    };
    let ordered = 0;
    await each({ kind: 'unknown' }, async (payouts) => {
      const ids = payouts.flatMap(({ id }) => (asked.get(id)?.word === 'not_found' ? [id] : []));
      ordered += await resendAbsent(ledger, ids, about);
    });
    return ordered;
  }

  return {
    run,
    async hear(signal) {
      await listAndHear(false, signal);
      await pruneListings(ledger, keptListings, await foreign());
    },
  };
}
