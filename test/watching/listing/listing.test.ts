import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ListedTransfer } from '../../../src/core/domain/listed-transfer.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { createListing } from '../../../src/watching/listing/listing.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { listedRow } from '../../support/listed-row.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

/** `now` is the service's time and our monotonic clock; our wall clock is off by `wallOffMs`. */
type Book = {
  rows: ListedTransfer[];
  now: number;
  slept: number[];
  perPage: number;
  wallOffMs?: number;
  /** What its pages count; absent: what they show. */
  total?: number;
  stop?: AbortController;
};
type Trouble = (asked: number, page: number, book: Book) => number | undefined;

const start = Date.UTC(2026, 10, 21, 12);

let folder: string;
let ledger: Ledger;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-'));
  ledger = await openNewLedger(join(folder, 'ledger.db'), { now: () => '2026-11-01T00:00:00.000Z' });
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

function row(n: number, createdAt = start - 60_000): ListedTransfer {
  const at = new Date(createdAt).toISOString();
  return listedRow(n, { created_at: at, updated_at: at });
}

/** A list over generated rows, newest first; `disturb` runs before each answer and may name a Retry-After to fail with. */
async function walk(
  book: Book,
  disturb: Trouble = () => undefined,
  maxPasses = 5,
  other?: ServiceClient['listPage'],
) {
  let asked = 0;
  let read = 0;
  const listPage: ServiceClient['listPage'] = async (page, status, recall) => {
    const failing = disturb(++asked, page, book);
    if (other) return other(page, status, recall);
    book.now += 10;
    if (failing !== undefined) {
      return {
        kind: 'trouble',
        reason: 'throttled',
        message: 'busy',
        httpStatus: 429,
        retryAfterMs: failing,
      };
    }
    const date = Math.floor(book.now / 1000) * 1000;
    const items = book.rows.slice((page - 1) * book.perPage, page * book.perPage);
    const lastPage = Math.max(1, Math.ceil(book.rows.length / book.perPage));
    const shown = { page, lastPage, perPage: book.perPage, total: book.total ?? book.rows.length, items };
    const digest = JSON.stringify(shown);
    const known = recall?.(digest);
    if (!known) read++;
    return { kind: 'page', page: { ...(known ?? { ...shown, digest }), date } };
  };
  const clock = {
    now: () => book.now + (book.wallOffMs ?? 0),
    iso: () => new Date(book.now).toISOString(),
    monotonic: () => book.now,
    sleep: async (ms: number) => {
      book.slept.push(ms);
      book.now += ms;
    },
  };
  const run = await ledger.write((trx) => beginRun(trx, clock.iso()));
  const settings = { maxPasses, concurrency: 2 };
  const listing = createListing({
    ledger,
    clock,
    service: { listPage },
    limiter: { take: async () => {} },
    settings,
  });
  const options = { full: true, ...(book.stop && { signal: book.stop.signal }) };
  return { run, result: await listing.walk(run, options), asked, read };
}

const book = (count: number): Book => ({
  rows: Array.from({ length: count }, (_, i) => row(i + 1)),
  now: start,
  slept: [],
  perPage: 5,
});

it('P35: an interrupted walk says so, and not that passes disagreed which nobody made', async () => {
  const stop = new AbortController();
  const { result } = await walk({ ...book(23), stop }, (asked) => void (asked === 5 && stop.abort()));
  expect(result).toMatchObject({ complete: false, passes: 1, listed: 23 });
  expect(result.trouble).toBe('interrupted before two passes over the list agreed');
});

it('P28: two agreeing passes over a quiet list are complete', async () => {
  const { result } = await walk(book(23));
  expect(result).toMatchObject({
    complete: true,
    passes: 2,
    listed: 23,
    cut: '2026-11-21T12:00:00.000Z',
    otherDomainSeen: false,
  });
});

it('P28: an empty list is complete too', async () => {
  expect((await walk(book(0))).result).toMatchObject({
    complete: true,
    passes: 2,
    listed: 0,
    oldestCreatedAt: null,
  });
});

it('P28: a row that slips between pages spoils the pass; the next two are complete, after a wait', async () => {
  const list = book(23);
  const { result } = await walk(list, (asked, _page, { rows }) => {
    if (asked !== 2) return undefined;
    const [moved] = rows.splice(20, 1);
    if (moved) rows.unshift(moved);
    return undefined;
  });
  expect(result).toMatchObject({ complete: true, passes: 3, listed: 23 });
  expect(list.slept).toEqual([1100]);
});

it('P28: a transfer of this very second is waited for before the list is read, not read in vain', async () => {
  const list = book(23);
  list.rows.unshift(row(24, start + 500));
  list.now = start + 600;
  const { result, asked } = await walk(list);
  expect(result).toMatchObject({ complete: true, passes: 2, listed: 24, cut: '2026-11-21T12:00:01.000Z' });
  expect(list.slept).toEqual([1100]);
  expect(asked).toBe(1 + 2 * 5);
});

it('P28: times far ahead of the service’s clock are not waited for', async () => {
  const list = book(23);
  list.rows.unshift(row(24, start + 3_600_000));
  const { result } = await walk(list, undefined, 2);
  expect(result).toMatchObject({ complete: false, passes: 2 });
  expect(list.slept).toEqual([1100]);
});

it('P28: rows created while we page shift the others, and the listing is still complete below the cut', async () => {
  const { result } = await walk(book(23), (asked, _page, list) => {
    if (asked === 3 || asked === 8) list.rows.unshift(row(1000 + asked, list.now + 1));
    return undefined;
  });
  // The second one came to page 1 after the last pass had read it.
  expect(result).toMatchObject({ complete: true, passes: 2, listed: 24 });
});

it('P28: a list whose totals never fit stays incomplete after max_passes', async () => {
  const { result } = await walk(
    book(23),
    (asked, page, list) => {
      if (page === 1) list.rows.push(row(5000 + asked, list.now + 60_000));
      return undefined;
    },
    3,
  );
  expect(result).toMatchObject({ complete: false, passes: 3 });
  expect(result.trouble).toMatch(/agreed/);
});

it('P28: a total that always counts one more is not called a list that changed', async () => {
  const counted = book(23);
  const { result } = await walk({ ...counted, total: 24 }, undefined, 3);
  expect(result).toMatchObject({ complete: false, gap: { total: 24, shown: 23, ahead: { count: 0 } } });
  expect(result.trouble).toBe(
    'the list’s first page counts 24 transfers, its pages show 23, and between the passes no row changed',
  );
});

it('P28: one pass cannot say whether the list changed', async () => {
  const { result } = await walk({ ...book(23), total: 24 }, undefined, 1);
  expect(result.trouble).toMatch(/agreed: its first page counted 24 transfers, its pages showed 23$/);
});

it('P28: a list whose rows come and go is said to have changed', async () => {
  const { result } = await walk(
    { ...book(23), total: 24 },
    (_asked, page, { rows }) => {
      if (page === 1) rows[3] = row(100 + (rows[3]?.id ? Number(rows[3].id) : 0));
      return undefined;
    },
    3,
  );
  expect(result.trouble).toMatch(/agreed: the list changed while it was read: its first page counted 24/);
});

it('P28: a row dated next year is named, and its time is what is wrong', async () => {
  const list = book(23);
  list.rows.unshift(row(99, start + 31_536_000_000));
  const { result } = await walk(list, undefined, 2);
  expect(result.trouble).toMatch(/^1 of the list’s 24 transfers has a time after .*: the times are wrong/);
  expect(result.gap).toMatchObject({
    ahead: { count: 1, first: [{ transferId: '99', createdAt: '2027-11-21T12:00:00.000Z' }] },
  });
});

it('a page that fails is asked again within its pass, honouring Retry-After', async () => {
  const list = book(23);
  const { result } = await walk(list, (asked) => (asked === 3 ? 7_000 : undefined));
  expect(result).toMatchObject({ complete: true, passes: 2 });
  expect(list.slept).toEqual([7_000]);
});

it('P33: Retry-After lasts no longer when the wall clock goes back while it is waited for', async () => {
  const list = book(23);
  const stepping = list.slept.push.bind(list.slept);
  list.slept.push = (ms) => {
    list.wallOffMs = -3_600_000;
    return stepping(ms);
  };
  await walk(list, (asked, page) => (asked === 2 || (asked === 3 && page === 3) ? 7_000 : undefined));
  expect(Math.max(...list.slept)).toBeLessThanOrEqual(7_000);
});

it('a first page that never comes ends the listing as incomplete, saying why', async () => {
  const { result, asked } = await walk(book(23), () => 1);
  expect(result).toMatchObject({ complete: false, listed: 0, trouble: 'page 1: busy' });
  expect(asked).toBe(5);
});

it('P28: a page size that changes within a pass spoils it', async () => {
  const { result } = await walk(
    book(24),
    (asked, _page, list) => {
      list.perPage = asked % 2 === 0 ? 5 : 6;
      return undefined;
    },
    2,
  );
  expect(result.complete).toBe(false);
});

it('P28: a page that fails for minutes in the middle of a walk is waited for; the walk is not begun again', async () => {
  const list = book(23);
  const { result, asked } = await walk(list, (count) => (count > 3 && count < 14 ? 30_000 : undefined));
  expect(result).toMatchObject({ complete: true, passes: 2 });
  expect(asked).toBe(2 * 5 + 10);
});

it('P28: Retry-After on one page keeps the pages asked beside it waiting too', async () => {
  const list = book(23);
  const times: number[] = [];
  await walk(list, (count, page, { now }) => {
    if (page === 4) times.push(now);
    return count === 2 ? 20_000 : undefined;
  });
  expect(times[0]).toBeGreaterThanOrEqual(start + 20_000);
});

it('P28: a list that becomes shorter while it is read is complete once it holds still', async () => {
  const { result } = await walk(book(23), (asked, _page, { rows }) => {
    if (asked === 3) rows.splice(8, 12);
    return undefined;
  });
  expect(result).toMatchObject({ complete: true, listed: 13 });
});

it('P28: what only an earlier pass showed is dropped when later passes agree without it', async () => {
  const list = book(23);
  const { run, result } = await walk(list, (asked, _page, { rows }) => {
    if (asked === 4) rows.splice(0, 1);
    return undefined;
  });
  expect(result).toMatchObject({ complete: true });
  const staged = await ledger.db
    .selectFrom('listed')
    .select('transfer_id')
    .where('run_id', '=', run)
    .execute();
  expect(staged).toHaveLength(22);
  expect(staged).not.toContainEqual({ transfer_id: '1' });
});

it('P28: a page served before a transfer settled does not take its newer word back', async () => {
  const list = book(8);
  const [old] = list.rows;
  if (!old) throw new Error('no row');
  const settled = { ...old, updated_at: new Date(start - 1_000).toISOString() };
  list.rows = [settled, ...list.rows.slice(1), { ...old, status: 'pending' }];
  const { run } = await walk(list, undefined, 1);
  const staged = ledger.db
    .selectFrom('listed')
    .select('status')
    .where('run_id', '=', run)
    .where('transfer_id', '=', '1');
  expect(await staged.execute()).toEqual([{ status: 'success' }]);
});

it('P28: a page that comes again byte for byte is counted again, and not read again', async () => {
  const { result, asked, read } = await walk(book(23));
  expect(result).toMatchObject({ complete: true, passes: 2, listed: 23 });
  expect([asked, read]).toEqual([10, 5]);
});

it('P28: a page that comes again after one of its rows was shown otherwise is read again', async () => {
  const list = book(23);
  const other = { ...row(23), status: 'failed' };
  const { run, result } = await walk(
    list,
    (asked, page, { rows }) => {
      // Once, in the second pass, page 4 shows another word on a transfer that page 5, on its way by then, shows as before.
      if (asked > 5 && page === 4) rows[19] = other;
      if (asked > 5 && page === 5) rows[19] = row(20);
      return undefined;
    },
    2,
  );
  expect(result).toMatchObject({ listed: 23 });
  const staged = ledger.db.selectFrom('listed').select('status').where('run_id', '=', run);
  expect(await staged.where('transfer_id', '=', '23').execute()).toEqual([{ status: 'success' }]);
});

it('P28: the next pages are on their way while one is read, and never more than may be in flight', async () => {
  const list = book(40);
  let inFlight = 0;
  let most = 0;
  const counting: ServiceClient['listPage'] = async (page) => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
    const items = list.rows.slice((page - 1) * 5, page * 5);
    return { kind: 'page', page: { page, lastPage: 8, perPage: 5, total: 40, date: list.now, items } };
  };
  const { result } = await walk(list, undefined, 5, counting);
  expect(result).toMatchObject({ complete: true, listed: 40 });
  expect(most).toBe(2);
});

it('P28: a last page that does not exist keeps nobody asking for ever', async () => {
  const list = book(7);
  const endless: ServiceClient['listPage'] = async (page) => {
    const items = list.rows.slice((page - 1) * 5, page * 5);
    return { kind: 'page', page: { page, lastPage: 1e12, perPage: 5, total: 7, date: list.now, items } };
  };
  const { result, asked } = await walk(list, undefined, 5, endless);
  expect(result).toMatchObject({ complete: true, listed: 7 });
  expect(asked).toBeLessThan(20);
});

/** Walks a list of so many pages whose page before the last never comes; returns how long it waited in seconds. */
async function waitedFor(pages: number): Promise<number> {
  const list = book(5 * pages);
  const listPage: ServiceClient['listPage'] = async (page) => {
    const items = list.rows.slice((page - 1) * 5, page * 5);
    return page === pages - 1
      ? { kind: 'trouble', reason: 'server_error', message: 'no', httpStatus: 500, retryAfterMs: null }
      : {
          kind: 'page',
          page: { page, lastPage: pages, perPage: 5, total: 5 * pages, date: list.now, items },
        };
  };
  const { result } = await walk(list, undefined, 5, listPage);
  expect(result).toMatchObject({ complete: false, trouble: `page ${pages - 1}: no` });
  return list.slept.reduce((sum, ms) => sum + ms, 0) / 1000;
}

it('a page that never comes is waited for as long as the pages read before it are worth, and once only', async () => {
  expect(await waitedFor(4)).toBeLessThan(100);
  const long = await waitedFor(300);
  expect(long).toBeGreaterThan(240);
  expect(long).toBeLessThan(400);
});
