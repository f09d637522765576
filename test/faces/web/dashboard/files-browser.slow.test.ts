import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchOf } from '../../../support/cli.ts';
import { tokenOf } from '../../api/support.ts';
import { brokenWords, lowestContrast, tooWide } from '../report/in-page.ts';
import { openDesk } from './desk.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = path === undefined ? ' (skipped: no chromium)' : '';

/** Where the pictures lie that a person should look at. */
const pictures = process.env.PICTURES ?? join(tmpdir(), 'counterfoil-files');

const bad = [
  'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name',
  ...Array.from({ length: 12 }, (_, n) =>
    [
      `S-${n}`,
      n % 3 === 0 ? '01234' : `01234567${String(n).padStart(2, '0')}`,
      'Okafor Supplies',
      n === 4 ? '5' : '058',
      n % 4 === 0 ? '"1,000.5"' : '100.00',
      'NGN,Supplies,Acme Ltd',
    ].join(','),
  ),
  '',
].join('\n');
const good = `${batchOf(4, 500)}PAY-9001,1000000500,Adaeze Okonkwo,058,1500.50,NGN,Salary,Acme Ltd\n`;

let browser: Browser;
beforeAll(async () => {
  if (path === undefined) return;
  mkdirSync(pictures, { recursive: true });
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 60_000);
afterAll(async () => browser?.close());

async function signedIn(
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; troubles: string[] }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    bypassCSP: false,
    ...options,
  });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  await page.goto(`${url}/signin`);
  await page.getByLabel('Your token').fill(tokenOf('rita'));
  await page.keyboard.press('Enter');
  await page.getByText('signed in as rita').waitFor();
  return { page, troubles };
}

const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

describe.skipIf(path === undefined)(`dropping files in a real browser${missing}`, () => {
  it('takes a dragged file, mends it and takes it in by keyboard', { timeout: 120_000 }, async () => {
    const { url, home } = await openDesk({ COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
    const { page, troubles } = await signedIn(url);
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('link', { name: 'Drop files…' }).click();
    await page.getByText('Or drag them here.').waitFor();
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(bad)}], 'suppliers.csv', { type: 'text/csv' }));
      document.getElementById('drop-form').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    await page.waitForURL(/\/files\/checks\//);
    await page.getByText('8 problems').waitFor();
    const fields = page.locator('input[name^=cell-]');
    for (let n = 0; n < (await fields.count()); n++) {
      const name = (await fields.nth(n).getAttribute('aria-label')) ?? '';
      const row = /\d+/.exec(name)?.[0] ?? '';
      const values: Record<string, string> = { amount: '1000.50', bank_code: '058' };
      const [, column = ''] = name.split(', ');
      await fields.nth(n).fill(values[column] ?? `01234560${row.padStart(2, '0')}`);
    }
    await fields.last().press('Enter');
    await page.getByText('It can be taken in, and would be held').waitFor();
    await page.getByText('What was changed').waitFor();
    const day = page.locator('input[name=pay_on]');
    await day.focus();
    // Its day, month and year, and the calendar.
    for (let n = 0; n < 4; n++) {
      expect(
        await day.evaluate(
          'document.activeElement.name + getComputedStyle(document.activeElement).outlineStyle',
        ),
      ).toBe('pay_onsolid');
      await page.keyboard.press('Tab');
    }
    await page.getByRole('button', { name: 'Take it in' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/batches\/suppliers-/);
    await page.getByText('Changed before it was taken in').waitFor();
    expect((await home.json(['batches'], 0)).batches).toMatchObject([{ rows: 12 }]);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it('says before anything is sent that a file is too large', { timeout: 60_000 }, async () => {
    const { url } = await openDesk({ COUNTERFOIL_INTAKE_MAX_BYTES: '1000' });
    const { page } = await signedIn(url);
    await page.goto(`${url}/batches/new`);
    await page.setInputFiles('input[type=file]', file('large.csv', batchOf(100)));
    await page.getByRole('button', { name: 'Check them' }).click();
    await page.getByText('at most 1000 are allowed').waitFor();
    await page.context().close();
  });

  it('shows a refusal of the server in place', { timeout: 60_000 }, async () => {
    const { url } = await openDesk();
    const { page } = await signedIn(url);
    await page.goto(`${url}/batches/new`);
    await page.setInputFiles('input[type=file]', file('book.xlsx', 'PK'));
    await page.getByRole('button', { name: 'Check them' }).click();
    await page.getByText('Not every file could be read').waitFor();
    await page.context().close();
  });

  it('prints the problems of a file, and breaks no figure on a telephone', { timeout: 60_000 }, async () => {
    const { url } = await openDesk();
    const { page } = await signedIn(url, { viewport: { width: 390, height: 800 } });
    await page.goto(`${url}/batches/new`);
    await page.setInputFiles('input[type=file]', file('suppliers.csv', bad));
    await page.getByRole('button', { name: 'Check them' }).click();
    await page.getByText('8 problems').waitFor();
    const lines = await page.evaluate<number>(`(() => {
      const range = document.createRange();
      range.selectNodeContents([...document.querySelectorAll('dd')].find((one) => one.textContent.startsWith('NGN')));
      return range.getClientRects().length;
    })()`);
    expect(lines, 'a total on one line').toBe(1);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 680, height: 1000 });
    expect(await page.locator('input[name^=cell-]').first().isVisible()).toBe(true);
    expect(await page.getByText('has thousands separators').first().isVisible()).toBe(true);
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
    expect(await page.evaluate<string[]>(brokenWords)).toEqual([]);
    await page.context().close();
  });

  it('is readable, sound for screen readers, and works without JavaScript, at 1280 and 390 pixels, light and dark', {
    timeout: 180_000,
  }, async () => {
    const { url, home } = await openDesk();
    home.put('data/inbox/refused.csv', bad);
    home.put('data/inbox/notes.txt', 'x');
    await home.run(['submit', '--no-wait']);
    const { page: first } = await signedIn(url, { javaScriptEnabled: false });
    const checks: string[] = [];
    for (const [name, text] of [
      ['suppliers.csv', bad],
      ['november.csv', good],
    ] as const) {
      await first.goto(`${url}/batches/new`);
      await first.setInputFiles('input[type=file]', file(name, text));
      await first.getByRole('button', { name: 'Check them' }).click();
      await first.waitForURL(/\/files\/checks\//);
      checks.push(new URL(first.url()).pathname);
    }
    await first.goto(`${url}${checks[0]}`);
    await first.locator('input[name^=cell-]').first().fill('1000.50');
    await first.getByRole('button', { name: 'Check again' }).click();
    await first.getByText('What was changed').waitFor();
    const pages = {
      new: '/batches/new',
      files: '/files',
      bad: new URL(first.url()).pathname,
      good: checks[1] ?? '',
    };
    const looks = {
      desktop: {},
      dark: { colorScheme: 'dark' as const },
      narrow: { viewport: { width: 390, height: 800 } },
      'narrow-dark': { viewport: { width: 390, height: 800 }, colorScheme: 'dark' as const },
    };
    for (const [look, options] of Object.entries(looks)) {
      const { page, troubles } = await signedIn(url, options);
      for (const [name, to] of Object.entries(pages)) {
        await page.goto(`${url}${to}`);
        const at = `${look}-${name}`;
        await page.screenshot({ path: join(pictures, `${at}.png`), fullPage: true });
        expect(await page.evaluate<number>(tooWide), at).toBeLessThanOrEqual(0);
        expect(await page.evaluate<number>(lowestContrast), at).toBeGreaterThanOrEqual(4.5);
        await page.evaluate(axe);
        const found = await page.evaluate<string[]>(
          '(async () => (await axe.run()).violations.map(({ id, nodes }) => id + " " + nodes[0].html.slice(0, 120)))()',
        );
        expect(found, at).toEqual([]);
      }
      expect(troubles).toEqual([]);
      await page.context().close();
    }
    await first.context().close();
  });
});
