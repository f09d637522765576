import type { AdviceFacts, FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import { graceEnds } from '../../core/domain/grace.ts';
import type { Origin, Standpoint } from '../../core/domain/origin.ts';
import { later } from '../../core/domain/wait.ts';
import { unknownSince } from '../../core/ledger/known.ts';
import { sentElsewhere, sentOnlyElsewhere } from '../../core/ledger/origins.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Config } from '../../core/settings/settings.ts';
import { keyset } from '../../core/storage/keyset.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { conflictingWebhooks } from '../../watching/evidence/conflicting-webhooks.sql.ts';
import { contradictedAfter } from '../../watching/evidence/contradicted.sql.ts';
import { foreignRows } from '../../watching/listing/pairing.sql.ts';
import { foreignTransfer } from './classify.ts';
import { seen } from './discrepancies.sql.ts';
import {
  feesDiffer,
  foundByDetails,
  foundPaidAgain,
  foundWebhookConflicts,
  missing,
  overturned,
  returned,
  stale,
  unheard,
  unknown,
} from './findings.ts';
import { judgeCases } from './judge-cases.ts';
import { alikePayouts, alikeTransfers, findLookAlikes } from './look-alikes.sql.ts';
import { offerPayouts, offerTransfers } from './offers.ts';
import { lastFinishedRun, type Overturned, overturnedAfter } from './overturned.sql.ts';
import type { LookedUp } from './questions.ts';
import { casesAgain } from './second-look.sql.ts';
import { createWatch, type Work } from './watch.ts';
import type { WatchedPayout } from './watched.sql.ts';

const chunk = 500;
const minute = 60_000;

/** Turns what a run listed, paired and looked up into discrepancies. Writes no payout's state. */
export function createConclusions(deps: {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  standpoint?: Standpoint | undefined;
}) {
  const { ledger, config, clock, standpoint } = deps;
  const settings = config.reconciliation;
  /** What was created before it is not expected to be ours. */
  const expectedSince = settings.since === '' ? ledger.birth : settings.since;
  const { each, unlisted, whole } = createWatch({ ledger, graceMinutes: settings.missingGraceMinutes });

  async function concludePairs(work: Work): Promise<void> {
    const about = { run: work.by.run, look: work.look };
    for await (const cases of casesAgain(ledger.db, about, chunk)) {
      const judged = await judgeCases(ledger.db, standpoint, whole(work, cases), work.listing.complete);
      const found = judged.flatMap((one) => one.found);
      await report(
        work,
        found.filter(
          ({ kind, shownAt }) => kind !== 'missing_in_ledger' || !shownAt || shownAt >= expectedSince,
        ),
      );
    }
  }

  async function concludeForeign(work: Work): Promise<void> {
    for await (const rows of foreignRows(ledger.db, work.by.run, expectedSince, chunk)) {
      const alikes = await alikePayouts(ledger.db, { run: work.by.run }, rows);
      await report(
        work,
        rows.map((row) => offerPayouts(foreignTransfer(row), alikes.get(row.transfer_id))),
      );
    }
  }

  async function concludeMissing(work: Work, asked: Map<bigint, LookedUp>): Promise<void> {
    // Only what a look-up did not find either is missing.
    const anyGone = [...asked.values()].some(({ word }) => word === 'not_found');
    if (!work.listing.complete || !anyGone) return;
    await each(unlisted(work), async (payouts) => {
      const absent = payouts.filter(({ id }) => asked.get(id)?.word === 'not_found');
      const elsewhere = await sentElsewhereOf(absent);
      const gone = absent.filter(({ id }) => !elsewhere.has(id));
      const found = gone.map((payout) => ({ payout, found: missing(payout, work.listing.cut) }));
      await reportOffering(work, found);
    });
  }

  /** P31: this account may well lack what went to another. */
  async function sentElsewhereOf(payouts: readonly WatchedPayout[]): Promise<ReadonlyMap<bigint, Origin>> {
    if (!standpoint) return new Map();
    const ids = payouts.map(({ id }) => id);
    return sentElsewhere(ledger.db, ids, standpoint.account);
  }

  /** Of payouts that went to another account only: this one cannot tell how they end (P31). */
  async function notHere(payouts: readonly WatchedPayout[]): Promise<Map<bigint, AdviceFacts['elsewhere']>> {
    if (!standpoint) return new Map();
    const { account } = standpoint;
    const ids = payouts.map(({ id }) => id);
    const elsewhere = await sentOnlyElsewhere(ledger.db, ids, account);
    return new Map([...elsewhere].map(([id, went]) => [id, { went, own: account.own }]));
  }

  /** What a look-up contradicts and the list does not; where the list does too, its word was reported. */
  async function concludeDetails(work: Work): Promise<void> {
    for (let after = 0n; ; ) {
      const payouts = await contradictedAfter(ledger.db, { run: work.by.run }, after, chunk);
      const last = payouts.at(-1);
      if (!last) return;
      after = last.id;
      await report(work, payouts.map(foundByDetails));
    }
  }

  /** Ends that a look-up or a late answer has overturned since the run before: nothing shows them afterwards (P14). */
  async function concludeOverturned(work: Work): Promise<void> {
    const about = { run: work.by.run, last: await lastFinishedRun(ledger.db) };
    const pages = keyset<Overturned>(chunk, (last) =>
      overturnedAfter(ledger.db, about, last?.entry ?? 0n, chunk),
    );
    for await (const payouts of pages) await report(work, payouts.map(overturned));
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
      await reportOffering(
        work,
        payouts.map((payout) => ({ payout, found: unknown(payout, { since: since(payout), minutes, now }) })),
      );
    });
    await concludeDetails(work);
    await concludeOverturned(work);
    const stampsUntil = graceEnds(now, settings.missingGraceMinutes);
    const submittedBy = later(now, -settings.stalePendingHours * 60 * minute);
    await each({ kind: 'stale', run: id, submittedBy, stampsUntil }, async (payouts) => {
      const elsewhere = await notHere(payouts);
      await report(
        work,
        payouts.map((payout) => stale(payout, elsewhere.get(payout.id))),
      );
    });
    await each({ kind: 'returned' }, (payouts) => report(work, payouts.map(returned)));
    await each({ kind: 'fees' }, (payouts) => report(work, payouts.map(feesDiffer)));
    await each({ kind: 'paid_again', run: id }, (payouts) => report(work, payouts.map(foundPaidAgain)));
    const unheardIds: bigint[] = [];
    if (config.receiver.enabled) {
      const finalBy = later(now > at ? now : at, -settings.webhookGraceMinutes * minute);
      await each({ kind: 'unheard', finalBy }, async (payouts) => {
        for (const { id: payoutId } of payouts) unheardIds.push(payoutId);
        await report(work, payouts.map(unheard));
      });
    }
    for await (const webhooks of conflictingWebhooks(ledger.db, id, chunk))
      await report(work, webhooks.flatMap(foundWebhookConflicts));
    return unheardIds;
  }

  async function reportOffering(
    work: Work,
    found: { payout: WatchedPayout; found: FoundDiscrepancy }[],
  ): Promise<void> {
    const alikes = await alikeTransfers(
      ledger.db,
      work.by.run,
      found.map(({ payout }) => payout),
    );
    await report(
      work,
      found.map(({ payout, found: one }) => offerTransfers(one, alikes.get(payout.id))),
    );
  }

  async function report(work: Work, found: FoundDiscrepancy[]): Promise<void> {
    if (found.length > 0) work.opened += await ledger.write((trx) => seen(trx, work.by, found));
  }

  return {
    /**
     * What the run's paired rows show: what differs, who is missing, and what nobody here ordered. `ours`: the list is
     * our account's.
     */
    async listing(work: Work, asked: Map<bigint, LookedUp>, ours: boolean): Promise<void> {
      await findLookAlikes(ledger, work.by.run);
      await concludePairs(work);
      // Another account's list lacks all that is ours, and its key finds none of it.
      if (ours) await concludeMissing(work, asked);
      // After the missing ones: a transfer that nobody ordered may be one of them.
      await concludeForeign(work);
    },
    ledger: concludeLedger,
  };
}
