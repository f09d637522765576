import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginRun } from '../../src/ledger/listings.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import { createListing } from '../../src/observation/listing.ts';
import type { ListedTransfer, ServiceClient } from '../../src/service/types.ts';

type Book = { rows: ListedTransfer[]; now: number; slept: number[]; perPage: number };
type Trouble = (asked: number, page: number, book: Book) => number | undefined;

const start = Date.UTC(2026, 10, 21, 12);
let folder: string;
let ledger: Ledger;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-'));
  ledger = await openLedger(join(folder, 'ledger.db'), { now: () => '2026-11-01T00:00:00.000Z' });
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

function row(n: number, createdAt = start - 60_000): ListedTransfer {
  const at = new Date(createdAt).toISOString();
  return {
    id: String(n),
    trx: `TRX${n}`,
    reference: `ACME-${n}`,
    currency: 'NGN',
    amount: '10.00',
    fee: '1.00',
    account_name: 'A',
    account_number: '0123456789',
    bank_code: '058',
    domain: 'test',
    status: 'success',
    created_at: at,
    updated_at: at,
  };
}

/** A list over generated rows, newest first; `disturb` runs before each answer and may name a Retry-After to fail with. */
async function walk(book: Book, disturb: Trouble = () => undefined, maxPasses = 5) {
  let asked = 0;
  const listPage: ServiceClient['listPage'] = async (page) => {
    const failing = disturb(++asked, page, book);
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
    return {
      kind: 'page',
      page: { page, lastPage, perPage: book.perPage, total: book.rows.length, date, items },
    };
  };
  const clock = {
    now: () => book.now,
    iso: () => new Date(book.now).toISOString(),
    monotonic: () => book.now,
    sleep: async (ms: number) => {
      book.slept.push(ms);
      book.now += ms;
    },
  };
  const run = await ledger.write((trx) => beginRun(trx, 'test', clock.iso()));
  const settings = { mode: 'test' as const, maxPasses, concurrency: 2 };
  const listing = createListing({
    ledger,
    clock,
    service: { listPage },
    limiter: { take: async () => {} },
    settings,
  });
  return { run, result: await listing.walk(run), asked };
}

const book = (count: number): Book => ({
  rows: Array.from({ length: count }, (_, i) => row(i + 1)),
  now: start,
  slept: [],
  perPage: 5,
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

it('P28: rows created while we page shift the others, and the listing is still complete below the cut', async () => {
  const { result } = await walk(book(23), (asked, _page, list) => {
    if (asked === 3 || asked === 8) list.rows.unshift(row(1000 + asked, list.now + 1));
    return undefined;
  });
  expect(result).toMatchObject({ complete: true, listed: 25 });
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

it('a page that fails is asked again within its pass, honouring Retry-After', async () => {
  const list = book(23);
  const { result } = await walk(list, (asked) => (asked === 3 ? 7_000 : undefined));
  expect(result).toMatchObject({ complete: true, passes: 2 });
  expect(list.slept).toEqual([7_000]);
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
