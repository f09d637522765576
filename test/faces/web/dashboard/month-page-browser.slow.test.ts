import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sql } from 'kysely';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../support/clock.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../../support/ledger.ts';
import { brokenWords, overflowing, tooWide, widerThanPaper } from '../report/in-page.ts';
import { addDiscrepancy, type Dashboard, startDashboard } from './support.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = path === undefined ? ' (skipped: no chromium)' : '';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
beforeAll(async () => {
  if (path === undefined) return;
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 60_000);
afterAll(async () => browser?.close());

/** November, closed: payouts of two departments with long references, paid but one that is unknown, and an open discrepancy. */
async function closedNovember(): Promise<Dashboard> {
  const iso = (): string => '2026-12-02T08:00:00.000Z';
  const clock = { ...systemClock(), iso, now: () => Date.parse(iso()) };
  const dashboard = await startDashboard({ clock });
  const { ledger } = dashboard;
  const references = Array.from({ length: 60 }, (_, n) => `SALARIES-LAGOS-2026-11-${n}`);
  await addBatch(ledger, references, { id: 'november-salaries-20261121-3f9a1c', amount: 10_000_000_000n });
  for (const [n, claim] of (await claimAt(ledger, at(1), 60)).entries()) {
    await recordOutcome(ledger, at(2), claim, n === 0 ? replies.unknown() : replies.accepted(`48${n}`));
    const cells = JSON.stringify(['x', n % 2 === 0 ? 'Finance & Controlling' : 'Operations']);
    await ledger.db.updateTable('payouts').set({ cells }).where('id', '=', claim.payoutId).execute();
  }
  await ledger.db.updateTable('batches').set({ columns: '["reference","Department"]' }).execute();
  await sql`insert into history (payout_id, seq, at, event, source, from_state, to_state, detail, prev_hash, hash)
    select id, 9, ${at(60_000)}, 'looked_up', 'test', 'pending', 'success', '{}', '', ''
    from payouts where state = 'pending'`.execute(ledger.db);
  await ledger.db.updateTable('payouts').set({ state: 'success' }).where('state', '=', 'pending').execute();
  await addDiscrepancy(ledger, {
    kind: 'webhook_missing',
    payoutId: 4n,
    reference: 'SALARIES-LAGOS-2026-11-3',
  });
  await dashboard.app.reporting.closePeriod('2026-11', iso(), 'ada');
  return dashboard;
}

async function open({ port }: Dashboard, to: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/signin`);
  await page.getByLabel('Your token').fill('bola-token-91d7aa40');
  await page.keyboard.press('Enter');
  await page.getByText('signed in as bola').waitFor();
  await page.goto(`http://127.0.0.1:${port}${to}`);
  return page;
}

describe.skipIf(path === undefined)(`the page of a month in a real browser${missing}`, () => {
  it('axe finds nothing wrong, light and dark, and nothing overflows a telephone', {
    timeout: 120_000,
  }, async () => {
    const dashboard = await closedNovember();
    for (const to of ['/months/2026-11', '/months/2026-12', '/months']) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open(dashboard, to, { colorScheme });
        await page.evaluate(axe);
        const broken = await page.evaluate<string[]>(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html.slice(0, 200)))",
        );
        expect(broken, `${to}, ${colorScheme}`).toEqual([]);
        await page.context().close();
      }
      const narrow = await open(dashboard, to, { viewport: { width: 390, height: 844 } });
      expect(await narrow.evaluate<number>(tooWide), to).toBeLessThanOrEqual(0);
      expect(await narrow.evaluate<string[]>(overflowing), to).toEqual([]);
      await narrow.context().close();
    }
  });

  it('prints on A4 at 9 points, with lines for two persons to sign', { timeout: 60_000 }, async () => {
    const dashboard = await closedNovember();
    // A4 less its margins of 15 mm is 680 pixels wide.
    const page = await open(dashboard, '/months/2026-11?rows=all', {
      viewport: { width: 680, height: 1000 },
    });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate<string[]>(overflowing)).toEqual([]);
    expect(await page.evaluate<number>(tooWide)).toBeLessThanOrEqual(0);
    const sizes = await page.evaluate<string[]>(
      "[...new Set([...document.querySelectorAll('main td, main th')].map((one) => getComputedStyle(one).fontSize))]",
    );
    expect(sizes.filter((size) => Number.parseFloat(size) < 12)).toEqual([]);
    const columns = await page.evaluate<number[]>(
      "[...document.querySelectorAll('main thead tr')].map((one) => one.children.length)",
    );
    expect(Math.max(...columns)).toBeLessThanOrEqual(8);
    const lines = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.paid tbody tr')].map((one) => one.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(one).lineHeight))",
    );
    expect(lines).toHaveLength(59);
    expect(Math.max(...lines), 'a paid row on one line').toBeLessThan(2);
    expect(await page.locator('.sign p').allInnerTexts()).toEqual([
      expect.stringMatching(/^November 2026.*, digest [0-9a-f]{12}$/),
      ...['Prepared by (name)', 'Signature', 'Date'],
      ...['Reviewed by (name)', 'Signature', 'Date'],
    ]);
    await page.context().close();
  });

  it('breaks no account number and no reference in two, on a screen and on paper', {
    timeout: 60_000,
  }, async () => {
    const dashboard = await closedNovember();
    for (const to of [
      '/payees',
      '/payouts',
      '/batches/november-salaries-20261121-3f9a1c',
      '/months/2026-11',
    ]) {
      const page = await open(dashboard, to);
      expect(await page.evaluate<string[]>(brokenWords), to).toEqual([]);
      await page.setViewportSize({ width: 680, height: 1000 });
      await page.emulateMedia({ media: 'print' });
      expect(await page.evaluate<string[]>(brokenWords), `${to} on paper`).toEqual([]);
      expect(await page.evaluate<number>(widerThanPaper), `${to} on paper`).toBe(0);
      await page.context().close();
    }
  });
});
