import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deskReport } from '../../../../src/faces/web/dashboard/desk-report.ts';
import { busyMonth } from '../../../books/busy-month.ts';
import { addBatch, makeWorld, runId, type World } from '../../../books/support.ts';
import {
  focused,
  lowestContrast,
  overflowing,
  type Structure,
  structure,
  tooWide,
  widerThanPaper,
} from './in-page.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = path === undefined ? ' (skipped: no chromium)' : '';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let world: World;
let browser: Browser;
const troubles: string[] = [];
const names = ['report.html', 'index.html'] as const;
const pages = { 'report.html': `reconciliation-${runId}/report.html`, 'index.html': 'index.html' };

beforeAll(async () => {
  if (path === undefined) return;
  world = await makeWorld();
  await busyMonth(world);
  await world.reporting.writeRun(runId);
  await world.reporting.writeDueBatchResults();
  await world.reporting.writeIndex();
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

/** Opens a page as a person does who double-clicks the file, with no network at all; notes what goes wrong. */
async function open(
  name: keyof typeof pages,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const context = await browser.newContext({ offline: true, colorScheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  page.on('console', (message) => troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('dialog', (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (!request.url().endsWith(pages[name])) troubles.push(`asked for ${request.url()}`);
  });
  await page.goto(`file://${join(world.reports, pages[name])}`);
  return page;
}

describe.skipIf(path === undefined)(`the pages in a real browser${missing}`, () => {
  it.each(names)(
    '%s opens from the disk without a network, in both schemes, at 360 and 1280 pixels without scrolling sideways',
    { timeout: 120_000 },
    async (name) => {
      for (const [width, scheme] of [
        [360, 'light'],
        [1280, 'dark'],
      ] as const) {
        const page = await open(name, width, scheme);
        const wide = await page.evaluate<number>(tooWide);
        expect(wide, `${name} at ${width}`).toBeLessThanOrEqual(0);
        const contrast = await page.evaluate<number>(lowestContrast);
        expect(contrast, `${name}, ${scheme}`).toBeGreaterThanOrEqual(4.5);
        await page.context().close();
      }
      expect(troubles).toEqual([]);
    },
  );

  it.each(names)(
    'no part of %s is wider than a telephone’s 390 pixels',
    { timeout: 120_000 },
    async (name) => {
      const page = await open(name, 390);
      expect(await page.evaluate<string[]>(overflowing)).toEqual([]);
      await page.context().close();
    },
  );

  it.each(names)(
    '%s has landmarks, headings in order, named pictures and tables whose headers say what they head',
    { timeout: 120_000 },
    async (name) => {
      const page = await open(name, 1280);
      const found = await page.evaluate<Structure>(structure);
      expect(found.landmarks).toEqual([1, 1, 1]);
      expect(found.levels.filter((level) => level === 1)).toHaveLength(1);
      for (const [index, level] of found.levels.entries())
        expect(level - (found.levels[index - 1] ?? 0), `heading ${index}`).toBeLessThanOrEqual(1);
      expect([found.unscoped, found.unnamed, found.untold]).toEqual([0, 0, 0]);
      if (name === 'report.html') expect(found.pictures).toBeGreaterThan(20);
      await page.context().close();
    },
  );

  it('report.html leads the keyboard from the skip link through the links, and shows where it is', {
    timeout: 120_000,
  }, async () => {
    const page = await open('report.html', 1280);
    const reached: string[] = [];
    for (let n = 0; n < 14; n++) {
      await page.keyboard.press('Tab');
      const now = await page.evaluate<{ text: string; outlined: boolean }>(focused);
      expect(now.outlined, now.text).toBe(true);
      reached.push(now.text);
    }
    expect(reached.slice(0, 3)).toEqual(['Skip to the content', 'All reports', 'What to do']);
    expect(reached, 'the story of a discrepancy').toContain('Details');
    await page.context().close();
  });

  it('report.html prints on A4 with nothing wider than the paper', { timeout: 120_000 }, async () => {
    const page = await open('report.html', 1280);
    const pdf = await page.pdf({ preferCSSPageSize: true });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.toString('latin1')).toMatch(/MediaBox\s*\[0 0 59[45][.\d]* 84[12][.\d]*\]/);
    await page.setViewportSize({ width: 680, height: 900 });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate<number>(widerThanPaper)).toBe(0);
    await page.context().close();
  });

  it.each(names)(
    '%s: axe finds nothing wrong, on the disk and at the desk',
    { timeout: 60_000 },
    async (name) => {
      const text = readFileSync(join(world.reports, pages[name]), 'utf8');
      for (const shown of [text, deskReport(text)]) {
        const page = await browser.newPage();
        await page.setContent(shown);
        await page.evaluate(axe);
        const broken = await page.evaluate<string[]>(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html.slice(0, 200)))",
        );
        expect(broken).toEqual([]);
        await page.close();
      }
    },
  );

  it('index.html finds batches and turns pages by itself, and shows all without JavaScript', {
    timeout: 120_000,
  }, async () => {
    for (let n = 1; n <= 60; n++)
      await addBatch(world.ledger, `many-${n}-of-sixty`, { createdAt: '2026-11-01T12:00:00.000Z' });
    await world.reporting.writeDueBatchResults();
    await world.reporting.writeIndex();
    const page = await open('index.html', 390, 'dark');
    const rows = page.locator('#batches tbody tr:visible');
    const counts = page.locator('#batches [role=status]');
    expect(await rows.count()).toBe(25);
    const before = await counts.textContent();
    expect(before).toMatch(/^1–25 of 6\d$/);
    await page.getByRole('button', { name: 'Next' }).first().click();
    expect(await counts.textContent()).toBe(before?.replace('1–25', '26–50'));
    await page.getByRole('searchbox', { name: 'Search batches' }).fill('SIXTY many-60');
    expect(await rows.allTextContents()).toEqual([expect.stringContaining('many-60-of-sixty')]);
    expect(await counts.textContent()).toBe('1–1 of 1');
    expect(await page.evaluate<string[]>(overflowing)).toEqual([]);
    expect(await page.evaluate<number>(lowestContrast)).toBeGreaterThanOrEqual(4.5);
    await page.context().close();
    const bare = await browser.newContext({ javaScriptEnabled: false });
    const plain = await bare.newPage();
    await plain.goto(`file://${join(world.reports, 'index.html')}`);
    expect(await plain.locator('#batches tbody tr:visible').count()).toBeGreaterThan(60);
    await bare.close();
    expect(troubles).toEqual([]);
  });
});
