import { isSound, type ListingResult, makeComplete, type Pass } from '../domain/completeness.ts';
import type { Mode } from '../domain/payout.ts';
import { countBelow, describeListing, overlapBelow, type StagedTransfer, stage } from '../ledger/listings.ts';
import type { Ledger } from '../ledger/open.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ListPage, ServiceClient, ServiceTrouble } from '../service/types.ts';

type Deps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'listPage'>;
  limiter: { take(signal?: AbortSignal): Promise<void> };
  settings: { mode: Mode; maxPasses: number; concurrency: number };
};

/** Lists every transfer into the run's staging rows; never throws for anything the network or service does. */
export type Listing = { walk(run: string, signal?: AbortSignal): Promise<ListingResult> };

type Answer = { kind: 'page'; page: ListPage; askedAt: number } | ServiceTrouble;
/** A pass that got no first page has no cut and no total. */
type Walked = { kind: 'pass'; pass: Pass } | { kind: 'no_pass'; trouble: string };

const tries = 5;
const firstWaitMs = 500;
const longestWaitMs = 15 * 60_000;
/** `Date` has whole seconds: after this long the next cut is past whatever unsettled this one (P28). */
const betweenPassesMs = 1_100;
/** Rows gathered before they are written: several pages a transaction. */
const groupRows = 2_000;

const stopped: ServiceTrouble = {
  kind: 'trouble',
  reason: 'unreachable',
  message: 'interrupted',
  httpStatus: null,
  retryAfterMs: null,
};

/** Walks the list of transfers in passes until two in a row agree (P28), or `maxPasses` are used up. */
export function createListing(deps: Deps): Listing {
  const { ledger, clock, settings } = deps;

  async function walk(run: string, signal?: AbortSignal): Promise<ListingResult> {
    let earlier: Pass | null = null;
    let trouble = 'no two passes over the list agreed';
    let passes = 0;
    while (passes < settings.maxPasses && !signal?.aborted) {
      const walked = await onePass(run, ++passes, signal);
      if (walked.kind === 'no_pass') {
        trouble = walked.trouble;
        break;
      }
      const { pass } = walked;
      if (earlier && makeComplete(earlier, pass, await overlapBelow(ledger.db, run, passes, earlier.cut))) {
        return {
          complete: true,
          passes,
          cut: earlier.cut,
          ...(await describeListing(ledger.db, run, settings.mode)),
        };
      }
      trouble = pass.trouble ?? trouble;
      earlier = pass;
      if (!isSound(pass) && passes < settings.maxPasses) await clock.sleep(betweenPassesMs, signal);
    }
    const seen = await describeListing(ledger.db, run, settings.mode);
    return { complete: false, passes, cut: earlier?.cut ?? clock.iso(), ...seen, trouble };
  }

  async function onePass(run: string, number: number, signal?: AbortSignal): Promise<Walked> {
    const first = await ask(1, signal);
    if (first.kind === 'trouble') {
      const said = first.reason === 'unauthorised' ? 'the service refused the key: ' : 'page 1: ';
      return { kind: 'no_pass', trouble: `${said}${first.message}` };
    }
    const { page, askedAt } = first;
    const cut = new Date(page.date ?? askedAt - 1_000).toISOString();
    const rest = await restOfPass(run, number, page, signal);
    const belowCut = await countBelow(ledger.db, run, number, cut);
    return { kind: 'pass', pass: { cut, total: page.total, belowCut, ...rest } };
  }

  /** Stages page 1 and then pages 2 to the last, a few at a time; the last page may move while we read, within bounds. */
  async function restOfPass(
    run: string,
    number: number,
    first: ListPage,
    signal?: AbortSignal,
  ): Promise<Pick<Pass, 'perPageChanged' | 'trouble'>> {
    const furthest = 2 * first.lastPage + 100;
    let lastPage = first.lastPage;
    let perPageChanged = false;
    let trouble: string | null = null;
    let gathered: StagedTransfer[] = first.items;
    for (let next = 2; next <= Math.min(lastPage, furthest) && trouble === null; ) {
      const many = Math.min(settings.concurrency, lastPage - next + 1);
      const from = next;
      const answers = await Promise.all(Array.from({ length: many }, (_, i) => ask(from + i, signal)));
      for (const [i, answer] of answers.entries()) {
        if (answer.kind === 'trouble') {
          trouble ??= `page ${from + i}: ${answer.message}`;
          continue;
        }
        lastPage = Math.max(lastPage, answer.page.lastPage);
        perPageChanged ||= answer.page.perPage !== first.perPage;
        gathered = gathered.concat(answer.page.items);
      }
      if (gathered.length >= groupRows) {
        await store(run, number, gathered);
        gathered = [];
      }
      next = from + many;
    }
    await store(run, number, gathered);
    return { perPageChanged, trouble };
  }

  function store(run: string, number: number, rows: StagedTransfer[]): Promise<void> {
    return ledger.write((trx) => stage(trx, run, number, rows));
  }

  /** Asks for one page, again when it fails, honouring Retry-After, before the pass is given up (contract.md). */
  async function ask(page: number, signal?: AbortSignal): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      await deps.limiter.take(signal);
      if (signal?.aborted) return stopped;
      const askedAt = clock.now();
      const answer = await deps.service.listPage(page);
      if (answer.kind === 'page') return { ...answer, askedAt };
      if (tried >= tries || answer.reason === 'unauthorised') return answer;
      await clock.sleep(
        Math.min(answer.retryAfterMs ?? firstWaitMs * 2 ** (tried - 1), longestWaitMs),
        signal,
      );
    }
  }

  return { walk };
}
