import { expect, it } from 'vitest';
import { findRun } from '../../../src/books/batch-results.sql.ts';
import { runRows } from '../../../src/books/run-sheets.sql.ts';
import type { RunVerdict } from '../../../src/books/run-verdicts.sql.ts';
import { storedCells } from '../../../src/books/sheet.ts';
import type { Period } from '../../../src/core/storage/tables/period-tables.ts';
import type { Batch } from '../../../src/core/storage/tables/tables.ts';
import type { View } from '../../../src/faces/web/dashboard/frame.ts';
import { runsView, runView } from '../../../src/faces/web/dashboard/runs-view.ts';
import { html } from '../../../src/faces/web/kit/html.ts';
import { wideTable } from '../../../src/faces/web/kit/table.ts';
import { heroSection } from '../../../src/faces/web/report/index-hero.ts';
import { batchRow, indexBatchColumns, monthRow, runRow } from '../../../src/faces/web/report/index-rows.ts';
import { reportPage } from '../../../src/faces/web/report/page.ts';
import { periodPage } from '../../../src/faces/web/report/period-page.ts';
import { busyMonth } from '../../books/busy-month.ts';
import { cut, makeWorld, runId } from '../../books/support.ts';

/** What breaks out of a text, out of an attribute in either quotes, and of the direction of reading. */
const evil = `<script>alert(1)</script>"'\`><img src=x>\u202egnp`;
const escaped = '&#60;script&#62;alert(1)';
const zone = 'Africa/Lagos';
const verdicts: RunVerdict[] = [{ currency: evil, verdict: 'exceptions', overturned: 1n }];

/** Nothing of it may be markup; `least`: how often it must be readable. */
function expectInert(page: string, least: number): void {
  // A drawing need not escape quotes between its tags.
  const unquoted = page.replaceAll(/(?<=<text[^>]*>)[^<]*/g, (text) => text.replaceAll(/["']/g, ''));
  const raw = /.{0,60}(?:<script>alert|<img|"'|\u202e|undefined|\[object).{0,60}/.exec(unquoted)?.[0];
  expect(raw).toBeUndefined();
  expect(page.split(escaped).length - 1).toBeGreaterThanOrEqual(least);
}

/** The sheets of a busy run, in which every text is hostile that is not one of our own words. */
async function hostileRun() {
  const world = await makeWorld();
  await busyMonth(world);
  const { db } = world.ledger;
  const run = (await findRun(db, runId)) ?? expect.fail('no run');
  const ours = new Set(['severity', 'state', 'kind', 'line', 'day', 'bucket']);
  const names = ['states', 'ageing', 'days', 'failures', 'banks', 'fees', 'settle_times', 'action', 'open'];
  const sheets: Record<string, string[][]> = {
    halt: [
      ['since', 'cause', 'kinds'],
      [evil, evil, 'account'],
    ],
  };
  for (const name of [...names, 'statement']) {
    const rows: string[][] = [];
    for await (const page of runRows(db, runId, name)) rows.push(...page.map(storedCells));
    const [header = [], ...data] = rows;
    const isText = (cell: string, index: number): boolean =>
      !ours.has(header[index] ?? '') && !/^[-\d.]+$/.test(cell);
    sheets[name] = [header, ...data.map((row) => row.map((cell, at) => (isText(cell, at) ? evil : cell)))];
  }
  await world.close();
  const trouble = JSON.stringify({ trouble: evil, webhooks: { due: 2, heard: 1, [evil]: 1 } });
  return {
    sheets,
    run: { ...run, id: evil, mode: evil, summary: trouble, list_standing: 'unread' as const },
  };
}

it('keeps what others wrote as text in every cell and fact of report.html, the index and the run’s page', {
  timeout: 60_000,
}, async () => {
  const { run, sheets } = await hostileRun();
  expectInert(await reportPage({ run, verdicts, sheets, zone, files: [evil] }), 300);

  const hero = heroSection({ run, compared: run, verdicts, sheets, zone, files: ['report.html', evil] });
  const batch = { id: evil, file_name: evil, created_at: evil, row_count: 1n } as Batch;
  const sums = {
    ordered: new Map([[evil, 1n]]),
    paid: new Map(),
    paidElsewhere: new Map(),
    unpaid: new Map(),
    paidCount: 0n,
    open: 1n,
  };
  const known = { sums, verdict: 'exceptions' as const, files: [evil], approvers: [evil] };
  const rows = [
    batchRow(batch, known, zone),
    runRow(run, { open: sheets.open, verdicts, files: [evil] }, { zone, keepDays: 0 }),
    monthRow(
      { month: '2026-10', closed_by: evil, closed_at: evil } as Period,
      { whole: 'exceptions', verdicts, files: [evil] },
      zone,
    ),
  ];
  expectInert(html`${hero}${wideTable(evil, [evil, ...indexBatchColumns], rows)}`.toString(), 30);

  const view = { zone, now: cut, mode: 'test', caller: { kind: 'nobody' }, formToken: null } as View;
  const shown = {
    verdicts,
    statement: sheets.statement ?? [],
    unended: null,
    reports: evil,
    keepDays: 0,
    decided: 0,
  };
  const now = { unended: { since: evil, run: evil, kind: 'died' as const }, last: null, already: true };
  const runs = runsView({ runs: [run], verdicts: new Map(), page: { more: true, number: 1 }, now }, view);
  expectInert(html`${runView(run, shown, view)}${runs}`.toString(), 10);
});

it('keeps what others wrote as text in every fact of a closed month', () => {
  const texts = { closed_by: evil, closed_at: evil, run_id: evil, timezone: evil, digest: evil };
  const period = { month: '2026-10', starts_at: evil, ends_at: evil, ...texts } as Period;
  const lines = ['settled', 'closing', 'unseen'];
  const statement = lines.map((line) => ({ currency: evil, line, count: evil, amount: evil }));
  const facts = { comparedAt: evil, list: 'complete', whole: 'exceptions' } as const;
  const about = { mode: evil, zone: evil, files: [evil] };
  const numbers = statement.map((row) => ({ ...row, count: '1', amount: '1.00' }));
  const cells = (...names: string[]) => [Object.fromEntries(names.map((name) => [name, evil]))];
  const parts = {
    paid: cells('currency', 'count', 'amount'),
    columns: cells('column', 'value', 'currency', 'count', 'amount'),
    approvals: cells('batch', 'dropped_by', 'approved_by', 'approved_at', 'batch_rows', 'currency', 'amount'),
    open: cells('kind', 'count'),
    left: [{ line: 'unseen' as const, rows: cells('reference', 'batch', 'amount', 'currency', 'why') }],
  };
  expectInert(periodPage({ period, ...facts, verdicts, statement: numbers }, parts, about), 15);
});
