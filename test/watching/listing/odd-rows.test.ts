import { afterEach, beforeEach, expect, it } from 'vitest';
import { readListPage } from '../../../src/core/service/pages.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { createListing } from '../../../src/watching/listing/listing.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { listedRow } from '../../support/listed-row.ts';
import { handClock } from '../lookups/setting.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const clock = { ...handClock(), sleep: async () => {} };

/** Walks a list of these pages, as the service writes them. */
async function walk(pages: unknown[][]) {
  const total = pages.flat().length;
  const listPage: ServiceClient['listPage'] = async (n) => {
    const page = { current_page: n, data: pages[n - 1] ?? [], last_page: pages.length, per_page: 2, total };
    const text = JSON.stringify({ success: true, status: '00', data: page });
    const read = readListPage(text, Date.parse(at(0)));
    if (read.kind === 'bad') throw new Error(read.why);
    return { kind: 'page', page: { ...read.page, digest: text } };
  };
  const run = await ledger.write((trx) => beginRun(trx, at(0)));
  const settings = { maxPasses: 5, concurrency: 2 };
  const limiter = { take: async () => {} };
  const result = await createListing({ ledger, clock, service: { listPage }, limiter, settings }).walk(run);
  const rows = await ledger.db.selectFrom('listed').select('transfer_id').orderBy('transfer_id').execute();
  return { result, shown: rows.map((row) => row.transfer_id) };
}

it('P28: a row without an id keeps the list from being proven, and hides no other row, nor those of later pages', async () => {
  const pages = [[listedRow(1), listedRow(2)], [{ ...listedRow(3), id: null }, listedRow(4)], [listedRow(5)]];
  const { result, shown } = await walk(pages);
  expect(result).toMatchObject({
    complete: false,
    trouble: expect.stringMatching(/^page 2: .+ without an id/),
  });
  expect(shown).toEqual(['1', '2', '4', '5']);
});

it('P28: goes on beyond pages none of whose rows has an id', async () => {
  const nameless = [{ ...listedRow(3), id: null }];
  const gap = [nameless, nameless];
  const { shown } = await walk([[listedRow(1)], ...gap, [listedRow(5)], ...gap, [listedRow(8)]]);
  expect(shown).toEqual(['1', '5', '8']);
});

it('P28: says of a list whose times run ahead of its own clock what is wrong, not that it changed', async () => {
  const before = { created_at: at(-1000), updated_at: at(-1000) };
  const ahead = { created_at: at(3_600_000), updated_at: at(3_600_000) };
  const { result } = await walk([[listedRow(1, before), listedRow(2, ahead)], [listedRow(3, ahead)]]);
  expect(result).toMatchObject({
    complete: false,
    trouble: expect.stringContaining('2 of the list’s 3 transfers have a time after the service’s own clock'),
  });
});
