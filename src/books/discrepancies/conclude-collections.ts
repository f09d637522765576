import { watchedForMs } from '../../core/domain/collection.ts';
import type { FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { RunSummary } from '../../core/shapes/run-shapes.ts';
import { keyset } from '../../core/storage/keyset.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { Collection } from '../../core/storage/tables/collection-tables.ts';
import {
  type CollectionWatch,
  collectionCounts,
  collectionsAfter,
  collectionsToVerify,
} from '../../watching/collections/collection-watch.sql.ts';
import { resendFigures, webhookFigures } from '../../watching/webhooks/webhook-figures.sql.ts';
import { collectionConflict, missingCollection, unconfirmedCollection } from './collection-findings.ts';
import { type SeenBy, seen } from './discrepancies.sql.ts';

/** The questions about collections that a run may have asked; answers reach the ledger before the promise resolves. */
export type CollectionFollowUp = {
  verify(ids: readonly bigint[], signal?: AbortSignal): Promise<number>;
  verifyDue(options: { budget: number; signal?: AbortSignal }): Promise<number>;
  /** Asks for webhooks again, within the throttle; returns how many. */
  askResend(ids: readonly bigint[], signal?: AbortSignal): Promise<number>;
};

export type CollectionRun = {
  /** Discrepancies that were opened. */
  opened: number;
  resends: number;
  figures: Required<Pick<RunSummary, 'webhooks' | 'resend_requests' | 'collections'>>;
};

type Deps = { ledger: Ledger; config: Config; clock: Clock; followUp: CollectionFollowUp };

const page = 500;
/** Questions a run asks at most; the rest is asked by the ladder, and by the next run. */
const budget = 2_000;
const minute = 60_000;

/** Reconciles collections: verifies them, concludes, and asks again for webhooks that never came. */
export function createCollectionConclusions({ ledger, config, clock, followUp }: Deps) {
  const { mode } = ledger;
  const { stalePendingHours, webhookGraceMinutes } = config.reconciliation;
  const staleMs = stalePendingHours * 60 * minute;
  const graceMs = webhookGraceMinutes * minute;
  const ago = (ms: number): string => new Date(clock.now() - ms).toISOString();

  async function verify(by: SeenBy, full: boolean, signal?: AbortSignal): Promise<number> {
    const due = await followUp.verifyDue({ budget, ...(signal && { signal }) });
    const ids = await collectionsToVerify(ledger.db, {
      before: ago(staleMs),
      askedBefore: by.at,
      watchedSince: full ? '' : ago(watchedForMs),
      limit: budget,
    });
    return due + (ids.length > 0 ? await followUp.verify(ids, signal) : 0);
  }

  async function each(watch: CollectionWatch, work: (rows: Collection[]) => Promise<void>): Promise<void> {
    const pages = keyset<Collection>(page, (last) =>
      collectionsAfter(ledger.db, watch, { after: last?.id ?? 0n, limit: page }),
    );
    for await (const rows of pages) await work(rows);
  }

  /** Finds everything that is open now, from the ledger alone: what is not found again has healed. */
  async function report(by: SeenBy): Promise<number> {
    let opened = 0;
    const tell = async (found: (FoundDiscrepancy | null)[]): Promise<void> => {
      const some = found.filter((one) => one !== null);
      if (some.length > 0) opened += await ledger.write((trx) => seen(trx, by, some));
    };
    await each({ kind: 'overdue', before: ago(staleMs) }, (rows) =>
      tell(rows.map((row) => missingCollection(row, mode, staleMs) ?? unconfirmedCollection(row, staleMs))),
    );
    await each({ kind: 'conflict' }, (rows) => tell(rows.map((row) => collectionConflict(row, mode))));
    return opened;
  }

  async function askUnheard(signal?: AbortSignal): Promise<number> {
    const ids: bigint[] = [];
    await each({ kind: 'unheard', receivedBy: ago(graceMs) }, async (rows) => {
      ids.push(...rows.map(({ id }) => id));
    });
    return ids.length > 0 ? followUp.askResend(ids, signal) : 0;
  }

  return {
    async conclude(
      by: SeenBy,
      options: { full: boolean; followUp: boolean; signal?: AbortSignal },
    ): Promise<CollectionRun> {
      const { signal } = options;
      const verified = options.followUp ? await verify(by, options.full, signal) : 0;
      const opened = await report(by);
      const asks = options.followUp && config.receiver.enabled;
      const resends = asks ? await askUnheard(signal) : 0;
      const now = clock.iso();
      const about = { enabled: config.receiver.enabled, now: now > by.at ? now : by.at, graceMs };
      const webhooks = await webhookFigures(ledger.db, about);
      const states = await collectionCounts(ledger.db);
      return {
        opened,
        resends,
        figures: {
          webhooks,
          resend_requests: await resendFigures(ledger.db, now),
          collections: { verified, states },
        },
      };
    },
  };
}
