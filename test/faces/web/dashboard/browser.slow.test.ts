import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresFailure } from '../../../../src/core/storage/failure.ts';
import { addBatch, at, claimAt, recordOutcome, replies, states } from '../../../support/ledger.ts';
import { focused, lowestContrast, tooWide } from '../report/in-page.ts';
import { addDiscrepancy, addUnapproved, type Dashboard, startDashboard } from './support.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const missing = path === undefined ? ' (skipped: no chromium)' : '';

/** Where the pictures lie that a person should look at. */
const pictures = process.env.PICTURES ?? join(tmpdir(), 'counterfoil-dashboard');

let browser: Browser;
beforeAll(async () => {
  if (path === undefined) return;
  mkdirSync(pictures, { recursive: true });
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 60_000);
afterAll(async () => browser?.close());

/** A busy day: a batch that waits for approval, one under way, an unknown payout and discrepancies. */
async function busyDay(): Promise<Dashboard> {
  const dashboard = await startDashboard();
  const { ledger } = dashboard;
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await addBatch(
    ledger,
    Array.from({ length: 40 }, (_, n) => `NOV-${n}`),
    { id: 'november-20261121-3f9a1c', amount: 170_000n },
  );
  for (const [n, claim] of (await claimAt(ledger, at(1), 30)).entries())
    await recordOutcome(ledger, at(2), claim, n === 0 ? replies.unknown() : replies.accepted(`48${n}`));
  await addDiscrepancy(ledger, { kind: 'paid_twice', payoutId: 3n, reference: 'NOV-0' });
  await addDiscrepancy(ledger, { kind: 'webhook_missing', payoutId: 4n, reference: 'NOV-1' });
  return dashboard;
}

const troubles: string[] = [];

async function open({ port }: Dashboard, to: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('console', (message) => troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('dialog', (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).host !== `127.0.0.1:${port}`) troubles.push(`asked for ${request.url()}`);
  });
  await page.goto(`http://127.0.0.1:${port}${to}`);
  return page;
}

/** Signs in as Bola on the page that asks for a token. */
async function openSignedIn(dashboard: Dashboard, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await open(dashboard, '/signin', options);
  await page.getByLabel('Your token').fill('bola-token-91d7aa40');
  await page.keyboard.press('Enter');
  await page.getByText('signed in as bola').waitFor();
  return page;
}

const pages = ['/', '/batches', '/batches/b-1', '/payouts/NOV-0', '/discrepancies', '/runs'];

describe.skipIf(path === undefined)(`the dashboard in a real browser${missing}`, () => {
  it('is readable at 1280 and 360 pixels, light and dark, with and without JavaScript, and loads nothing from elsewhere', {
    timeout: 120_000,
  }, async () => {
    const dashboard = await busyDay();
    troubles.length = 0;
    const looks = {
      desktop: {},
      dark: { colorScheme: 'dark' as const },
      narrow: { viewport: { width: 360, height: 800 } },
      plain: {
        javaScriptEnabled: false,
        colorScheme: 'dark' as const,
        viewport: { width: 360, height: 800 },
      },
    };
    for (const [name, options] of Object.entries(looks))
      for (const to of pages) {
        const page = await open(dashboard, to, options);
        const file = `${name}${to.replaceAll('/', '-')}.png`;
        await page.screenshot({ path: join(pictures, file), fullPage: true });
        if (name !== 'plain') {
          expect(await page.evaluate<number>(tooWide), file).toBeLessThanOrEqual(0);
          expect(await page.evaluate<number>(lowestContrast), file).toBeGreaterThanOrEqual(4.5);
        }
        expect(await page.getByRole('heading', { level: 1 }).count(), file).toBe(1);
        await page.context().close();
      }
    expect(troubles).toEqual([]);
  });

  it('keeps the longest name of a batch within three lines, on paper and on screens of any width', {
    timeout: 120_000,
  }, async () => {
    const dashboard = await startDashboard();
    const id = 'suppliers-with-a-name-that-is-really-muc-20261120-c3fc81';
    const amount = 5_095_469_750n;
    await addBatch(dashboard.ledger, ['A-1'], { id, amount });
    await addBatch(dashboard.ledger, ['B-1'], { id: 'b-1', amount, state: 'success' });
    const sheets = [
      // The text of A4.
      { media: 'print', width: 680 },
      ...[390, 600, 900, 1280].map((width) => ({ media: 'screen' as const, width })),
    ] as const;
    const page = await openSignedIn(dashboard);
    for (const { media, width } of sheets)
      for (const to of ['/batches', '/payouts']) {
        const place = `${to}, ${media} of ${width}`;
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ media });
        await page.goto(`http://127.0.0.1:${dashboard.port}${to}`);
        expect(await page.evaluate<number>(tooWide), place).toBeLessThanOrEqual(0);
        const link = page.getByRole('link', { name: id });
        expect(await link.evaluate((one) => one.getClientRects().length), place).toBeLessThanOrEqual(3);
      }
    await page.context().close();
  });

  it('breaks the digest of an approval between groups only, and it is copied whole', {
    timeout: 60_000,
  }, async () => {
    const dashboard = await busyDay();
    const page = await openSignedIn(dashboard, { viewport: { width: 390, height: 900 } });
    await page.goto(`http://127.0.0.1:${dashboard.port}/batches/b-1/approve`);
    const code = page.locator('code.digest');
    expect(await code.innerText()).toMatch(/^[0-9a-f]{64}$/);
    expect(await code.innerText()).toBe(await page.locator('input[name=digest]').first().inputValue());
    const groups = await code.evaluate((one) =>
      [...one.childNodes]
        .filter((node) => node.nodeName === '#text')
        .map((node) => {
          const range = one.ownerDocument.createRange();
          range.selectNodeContents(node);
          return range.getClientRects().length;
        }),
    );
    expect(groups).toEqual(Array.from({ length: 8 }, () => 1));
    await page.context().close();
  });

  it('shows 10,000 payouts that arrive while it is open, without a reload', {
    timeout: 120_000,
  }, async () => {
    const dashboard = await startDashboard();
    troubles.length = 0;
    const page = await open(dashboard, '/');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.sameDocument = true');
    for (let batch = 0; batch < 5; batch++)
      await addBatch(
        dashboard.ledger,
        Array.from({ length: 2000 }, (_, n) => `B${batch}-${n}`),
        { id: `b-${batch}` },
      );
    await page.locator('.tile', { hasText: 'Waiting' }).getByText('10,000').waitFor({ timeout: 20_000 });
    expect(await page.evaluate('window.sameDocument')).toBe(true);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it('lets a second person sign in and approve by keyboard alone', {
    timeout: 60_000,
  }, async () => {
    const dashboard = await busyDay();
    troubles.length = 0;
    const page = await openSignedIn(dashboard);
    const press = async (text: string | RegExp): Promise<void> => {
      for (let n = 0; n < 60; n++) {
        await page.keyboard.press('Tab');
        const { text: at, outlined } = await page.evaluate<{ text: string; outlined: boolean }>(focused);
        if (typeof text === 'string' ? at !== text : !text.test(at)) continue;
        expect(outlined, at).toBe(true);
        return;
      }
      throw new Error(`no ${text} by keyboard`);
    };
    await press('b-1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'b-1' }).waitFor();
    await press(/^Review and approve/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Approve b-1' }).waitFor();
    await page.screenshot({ path: join(pictures, 'approve.png') });
    await page.getByLabel('I have checked these payments').focus();
    await page.keyboard.press('Space');
    await press('Approve');
    await page.keyboard.press('Enter');
    await page.getByText('b-1 is approved by bola').waitFor();
    expect(await states(dashboard.ledger)).toMatchObject({ 'A-1': 'ready', 'A-2': 'ready' });
    await page.context().close();
  });

  it('decides without JavaScript, and swaps nothing away while somebody writes a note', {
    timeout: 60_000,
  }, async () => {
    const dashboard = await busyDay();
    troubles.length = 0;
    const plain = await openSignedIn(dashboard, { javaScriptEnabled: false });
    await plain.getByText('Stop all sending…').click();
    await plain.getByLabel('Hold everything until somebody releases it').check();
    await plain.getByRole('button', { name: 'Stop all sending' }).click();
    await plain.getByText('All sending is halted').waitFor();
    const page = await openSignedIn(dashboard);
    await page.goto(`http://127.0.0.1:${dashboard.port}/discrepancies`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('Decide…').first().click();
    await page.getByRole('textbox', { name: /^Note/ }).fill('asked the service');
    await addBatch(dashboard.ledger, ['LATER-1'], { id: 'later' });
    await page.getByText('New figures wait until you close the form.').waitFor();
    expect(await page.getByRole('textbox', { name: /^Note/ }).inputValue()).toBe('asked the service');
    await page.getByRole('button', { name: 'Acknowledge' }).first().click();
    await page.getByText('is acknowledged').waitFor();
    await plain.context().close();
    await page.context().close();
    expect(troubles).toEqual([]);
  });

  it('says that it is not live once the server is gone', { timeout: 60_000 }, async () => {
    const dashboard = await startDashboard();
    const page = await open(dashboard, '/');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await addBatch(dashboard.ledger, ['A-1']);
    await page.getByText(/^Not live: the connection is lost/).waitFor({ timeout: 20_000 });
    await page.context().close();
  });

  it('shows a page during an outage in which axe finds nothing wrong, and leaves it by itself', {
    timeout: 120_000,
  }, async () => {
    let failure: Error | null = new PostgresFailure('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.7:5432');
    const dashboard = await startDashboard({ failure: () => failure });
    troubles.length = 0;
    const looks = [{}, { colorScheme: 'dark' as const }, { viewport: { width: 390, height: 800 } }];
    const open503 = await Promise.all(looks.map((look) => open(dashboard, '/', look)));
    for (const page of open503) {
      await page.getByText('This page looks again by itself').waitFor();
      await page.evaluate(axe);
      expect(
        await page.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))',
        ),
      ).toEqual([]);
      expect(await page.evaluate<number>(tooWide)).toBeLessThanOrEqual(0);
    }
    failure = null;
    for (const page of open503) {
      await page.getByText('Needs a person').waitFor({ timeout: 30_000 });
      await page.context().close();
    }
    expect(troubles.filter((text) => !text.includes('503'))).toEqual([]);
  });
});
