import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overflowing, tooWide } from './in-page.ts';
import { bigRun, cleanRun, demoRun, uncomparedRun } from './look-runs.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = path === undefined ? ' (skipped: no chromium)' : '';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Look = { html: string; close(): Promise<void> };
const makers = { demo: demoRun, clean: cleanRun, uncompared: uncomparedRun, big: bigRun };
type Name = keyof typeof makers;
const names = ['demo', 'clean', 'uncompared', 'big'] as const satisfies readonly Name[];
const looks = new Map<string, Look>();
let browser: Browser;

beforeAll(async () => {
  if (path === undefined) return;
  for (const name of names) looks.set(name, await makers[name]());
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  for (const look of looks.values()) await look.close();
});

const desktop = { width: 1280, height: 800 };
const telephone = { width: 390, height: 844 };

async function open(
  name: Name,
  viewport: typeof desktop,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(`file://${looks.get(name)?.html}`);
  return page;
}

const height = 'document.documentElement.scrollHeight';
/** Where a part ends below the top of the page, in pixels. */
const bottomOf = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().bottom`;
const topOf = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().top`;

describe.skipIf(path === undefined)(`the look of report.html in a real browser${missing}`, () => {
  it('fits a run of ten payouts into three screens, also with a discrepancy of each kind', async () => {
    for (const name of ['demo', 'clean', 'uncompared'] as const) {
      const page = await open(name, desktop);
      expect(await page.evaluate<number>(height), name).toBeLessThanOrEqual(3 * desktop.height);
      await page.close();
    }
    for (const name of ['clean', 'uncompared'] as const) {
      const page = await open(name, telephone);
      expect(await page.evaluate<number>(height), name).toBeLessThanOrEqual(3 * telephone.height);
      await page.close();
    }
  });

  it.each([desktop, telephone])(
    'answers on the first screen of $width pixels: verdicts, totals and the first thing to do',
    async (viewport) => {
      for (const name of names) {
        const page = await open(name, viewport);
        expect(await page.evaluate<number>(bottomOf('.verdicts')), name).toBeLessThan(viewport.height / 2);
        expect(await page.evaluate<number>(bottomOf('.tiles')), name).toBeLessThan(viewport.height);
        expect(await page.evaluate<number>(topOf('#action')), name).toBeLessThan(viewport.height);
        await page.close();
      }
    },
  );

  it('shows a hundred of five hundred discrepancies on one page, and names the file for the rest', async () => {
    const page = await open('big', desktop);
    expect(await page.locator('tbody.item').count()).toBe(100);
    expect(await page.locator('#action').innerText()).toContain('… and 400 more in discrepancies.csv');
    expect(await page.evaluate<number>(height)).toBeLessThanOrEqual(12 * desktop.height);
    await page.close();
  });

  it.each(names)('%s: nothing overflows a telephone, also with every story open', async (name) => {
    const page = await open(name, telephone);
    expect(await page.evaluate<number>(tooWide)).toBeLessThanOrEqual(0);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    expect(await page.evaluate<string[]>(overflowing)).toEqual([]);
    await page.close();
  });

  it.each(names)(
    '%s: axe finds nothing wrong with contrast, headings or names, light and dark',
    {
      timeout: 120_000,
    },
    async (name) => {
      for (const scheme of ['light', 'dark'] as const) {
        const page = await open(name, desktop, scheme);
        await page.evaluate(axe);
        const broken = await page.evaluate<string[]>(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html.slice(0, 200)))",
        );
        expect(broken, scheme).toEqual([]);
        await page.close();
      }
    },
  );

  it('is green only where a currency is reconciled', async () => {
    for (const scheme of ['light', 'dark'] as const)
      for (const name of names) {
        const page = await open(name, desktop, scheme);
        const green = await page.evaluate<string[]>(greenParts);
        if (name === 'clean') expect(green.length, scheme).toBeGreaterThan(0);
        expect(
          green.filter((words) => !words.includes('reconciled')),
          `${name}, ${scheme}`,
        ).toEqual([]);
        await page.close();
      }
  });

  it('opens a story over the whole width of the table by a click on its sign', async () => {
    const page = await open('demo', desktop);
    await page.locator('.story summary').first().click();
    const story = page.locator('.story details').first();
    expect(await story.innerText()).toContain('Evidence');
    expect((await story.boundingBox())?.width).toBeGreaterThan(1000);
    await page.close();
  });
});

/** The words of each part whose text, ground or border is more green than red or blue. */
const greenParts = `[...document.querySelectorAll('body *')].filter((one) => {
  const style = getComputedStyle(one);
  return [style.color, style.backgroundColor, style.borderLeftColor, style.fill].some((colour) => {
    const [red, green, blue, alpha = 1] = (colour.match(/[\\d.]+/g) ?? []).map(Number);
    return alpha > 0 && green > red + 8 && green > blue + 8;
  });
}).map((one) => one.closest('.verdict')?.textContent ?? one.textContent)`;
