import { foldReference } from '../../core/domain/ids.ts';
import type { ListedTransfer } from '../../core/domain/listed-transfer.ts';
import type { Standpoint } from '../../core/domain/origin.ts';
import { findWitness } from '../../core/domain/witness.ts';
import { newestId } from '../../core/ledger/history.ts';
import type { Due } from '../../core/ledger/inquiries.ts';
import { type KnownPayout, loadKnown } from '../../core/ledger/known.ts';
import { record } from '../../core/ledger/record.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { ListPage, ServiceClient } from '../../core/service/types.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { corrected, type ListShape, nextPage, worthAPage } from './page-plan.ts';
import { attemptsNamed, plainlyPaid } from './plainly-paid.sql.ts';

type Deps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  standpoint?: Standpoint | undefined;
};

/** How many pages were read, and the payouts that they settled. */
export type ListAnswers = { pages: number; settled: ReadonlySet<bigint> };

/** After pages in vain, single look-ups are made for this long. */
const vainMs = 60_000;
/** After this many pages in a row that answered little, the rest is asked one by one. */
const vainLimit = 2;

/**
 * Answers questions about paid payouts by pages of the list, where one read answers many (P14). A row of the list confirms a
 * success that webhooks announced, and nothing else: what a page lacks, calls failed or shows otherwise is left to the details
 * (P16, P17, P36). Never throws for a failure of the network or the service.
 */
export function createListAnswers({ ledger, clock, service, limiter, standpoint }: Deps) {
  let shape: ListShape = { perPage: 50, order: 'newest_first', total: 0, shift: 0 };
  let vainUntil = Number.NEGATIVE_INFINITY;

  async function read(page: number, signal?: AbortSignal): Promise<ListPage | undefined> {
    await limiter.take(signal);
    if (signal?.aborted) return undefined;
    const answer = await service.listPage(page);
    return answer.kind === 'page' ? answer.page : undefined;
  }

  /** Records the successes that the page shows of these questions' payouts. */
  function settle(page: ListPage, dues: readonly Due[]): Promise<bigint[]> {
    const rows = Map.groupBy(page.items, ({ reference }) => foldReference(reference));
    return ledger.write(async (trx) => {
      // Read in this transaction: a webhook or an attempt since the page was asked for counts (P4, P18).
      const paid = await plainlyPaid(trx, dues, standpoint);
      const known = await loadKnown(
        trx,
        paid.map(({ payoutId }) => payoutId),
      );
      const events = [...known].flatMap(([payoutId, one]) => {
        const witness = successIn(rows.get(one.payout.reference_key) ?? [], one);
        const event = { kind: 'witness' as const, askedIn: one.payout.state };
        return witness ? [{ payoutId, source: 'listing', event: { ...event, witness } }] : [];
      });
      const recorded = await record(trx, clock.iso(), events);
      return recorded.flatMap(({ payoutId, to }) => (to === 'success' ? [payoutId] : []));
    });
  }

  /** Learns from a page where our transfers lie. */
  async function learn(page: ListPage, newest: bigint): Promise<boolean> {
    const attempts = await attemptsNamed(
      ledger.db,
      page.items.map(({ reference }) => reference),
    );
    const placed = page.items.flatMap(({ reference }, index) => {
      const attempt = attempts.get(foldReference(reference));
      if (attempt === undefined) return [];
      const place = (page.page - 1) * page.perPage + index;
      return [{ place, sendsSince: Number(newest - attempt) }];
    });
    const { perPage, total } = page;
    const better = corrected(shape, { perPage, total, order: orderOf(page, shape.order) }, placed);
    if (better) shape = better;
    return better !== undefined;
  }

  async function answer(dues: readonly Due[], signal?: AbortSignal): Promise<ListAnswers> {
    const settled = new Set<bigint>();
    const pages = new Set<number>();
    const none = { pages: 0, settled };
    if (dues.length < worthAPage || clock.monotonic() < vainUntil) return none;
    const paid = await plainlyPaid(ledger.db, dues, standpoint);
    const about = new Map(paid.map(({ payoutId, attempt }) => [payoutId, attempt]));
    for (let vain = 0; about.size >= worthAPage && vain < vainLimit && !signal?.aborted; ) {
      const newest = await newestId(ledger.db, 'attempts');
      const sendsSince = [...about.values()].map((attempt) => Number(newest - attempt));
      const number = nextPage(shape, sendsSince, pages);
      if (number === undefined) break;
      pages.add(number);
      const page = await read(number, signal);
      const now = page
        ? await settle(
            page,
            dues.filter(({ payoutId }) => about.has(payoutId)),
          )
        : [];
      for (const id of now) {
        about.delete(id);
        settled.add(id);
      }
      const knowsWhere = page !== undefined && (await learn(page, newest));
      vain = now.length >= worthAPage ? 0 : vain + 1;
      if (vain === vainLimit || !knowsWhere) vainUntil = clock.monotonic() + vainMs;
      if (!knowsWhere) break;
    }
    return { pages: pages.size, settled };
  }

  return { answer };
}

/** The order of the page's first and last row; `otherwise` where their times are the same. */
function orderOf({ items }: ListPage, otherwise: ListShape['order']): ListShape['order'] {
  const [first = '', last = ''] = [items[0]?.created_at, items.at(-1)?.created_at];
  if (first === last) return otherwise;
  return first > last ? 'newest_first' : 'oldest_first';
}

/** The success that the rows show of the payout: one row under its reference, with its id, agreeing in every field (P13, P15). */
function successIn(rows: readonly ListedTransfer[], { payout, expected }: KnownPayout) {
  const [row] = rows;
  if (!row || rows.length > 1 || row.id !== payout.transfer_id) return undefined;
  const finding = findWitness(row, expected, 'listing');
  return finding.kind === 'witness' && finding.witness.status === 'success' ? finding.witness : undefined;
}
