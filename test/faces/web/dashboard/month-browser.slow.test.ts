import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { everySecond } from '../../../support/serving.ts';
import { type PersonName, tokenOf } from '../../api/support.ts';
import { openDesk } from './desk.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = path === undefined ? ' (skipped: no chromium)' : '';
/** Where the pictures and the printed month lie that a person should look at. */
const pictures = process.env.PICTURES ?? join(tmpdir(), 'counterfoil-month');
const waitMs = 40_000;

const people = {
  dayo: ['drop'],
  ada: ['read', 'approve', 'decide'],
  femi: ['read', 'approve'],
  rita: [],
  eve: [],
};
const row = (reference: string, account: string, amount: string, bank = '058'): string =>
  `${reference},${account},Payee of ${reference},${bank},${amount},NGN,Salary,Acme Ltd`;
/** Three cells are wrong: an account, an amount and a bank. */
const salaries = [
  'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name',
  row('PAY-1', '0123', '1500.00'),
  row('PAY-2', '1000000002', '"1,000.5"'),
  row('PAY-3', '1000000003', '700.00', '5'),
  row('FAIL-1', '1000000004', '800.00'),
  row('FAIL-2', '1000000005', '900.00'),
  row('LOST-1', '1000000006', '600.00'),
  row('FEE-1', '1000000007', '500.00'),
  '',
].join('\n');
const mended: Record<string, string> = { account_number: '1000000001', amount: '1000.50', bank_code: '044' };
const faults = { 'FAIL-1': 'fail', 'FAIL-2': 'fail', 'LOST-1': 'lost_before', 'FEE-1': 'wrong_fee' } as const;

let browser: Browser;
beforeAll(async () => {
  if (path === undefined) return;
  mkdirSync(pictures, { recursive: true });
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
}, 60_000);
afterAll(async () => browser?.close());

/** How a person works: `keys` without a mouse; `script` with JavaScript. */
type Way = { name: string; keys: boolean; script: boolean };
const ways: Way[] = [
  { name: 'with a mouse', keys: false, script: true },
  { name: 'by keyboard alone', keys: true, script: true },
  { name: 'without JavaScript', keys: false, script: false },
];

/** A person at a browser. */
function deskOf(page: Page, { keys, script }: Pick<Way, 'keys' | 'script'>) {
  /** Goes to an element by Tab, as a person without a mouse does. */
  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor({ timeout: waitMs });
    for (let n = 0; n < 300; n++) {
      if (await target.evaluate((one) => one === one.ownerDocument.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error('Tab never reached it');
  }
  const link = (name: string | RegExp): Locator => page.getByRole('link', { name }).first();
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true }).first();
  async function press(target: Locator, key = 'Enter'): Promise<void> {
    if (!keys) return target.click({ timeout: waitMs });
    await tabTo(target);
    await page.keyboard.press(key);
  }
  return {
    page,
    follow: (name: string | RegExp) => press(link(name)),
    push: (name: string) => press(button(name)),
    tick: (label: string) => press(page.getByLabel(label).first(), 'Space'),
    async write(field: Locator, text: string): Promise<void> {
      if (!keys) return field.fill(text);
      await tabTo(field);
      await page.keyboard.press('Control+A');
      await page.keyboard.type(text);
    },
    async choose(name: string, text: string): Promise<void> {
      const files = { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
      const input = page.locator('input[type=file]');
      if (!keys) return input.setInputFiles(files);
      const asked = page.waitForEvent('filechooser');
      await tabTo(input);
      await page.keyboard.press('Enter');
      await (await asked).setFiles(files);
    },
    /** Waits for the page to say so: a live page by itself, any other one loaded again. */
    async sees(text: string | RegExp): Promise<void> {
      const said = page.getByText(text).first();
      if (script) return said.waitFor({ timeout: waitMs });
      await expect
        .poll(async () => (await said.isVisible()) || ((await page.reload()) && false), {
          timeout: waitMs,
          interval: 500,
        })
        .toBe(true);
    },
  };
}

async function signIn(
  url: string,
  name: PersonName,
  way: Pick<Way, 'keys' | 'script'>,
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: way.script,
    ...options,
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const desk = deskOf(page, way);
  await page.goto(`${url}/signin`);
  await desk.write(page.getByLabel('Your token'), tokenOf(name));
  await page.keyboard.press('Enter');
  await page.getByText(`signed in as ${name}`).waitFor();
  return desk;
}

const settings = {
  COUNTERFOIL_ADMIN_ROLES: JSON.stringify(people),
  COUNTERFOIL_SUBMISSION_APPROVAL: 'above',
  COUNTERFOIL_SUBMISSION_APPROVAL_ABOVE: '{"NGN":"5000.00"}',
  COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
};

/** Lets the clock of this process, and so of its daemon, go on from a later time. Returns the month that is over then. */
function passMonth(): string {
  const real = globalThis.Date;
  const now = new real();
  const next = real.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2, 8);
  const ahead = next - now.getTime();
  class Later extends real {
    constructor(...given: [] | [string | number]) {
      if (given.length === 0) super(real.now() + ahead);
      else super(...given);
    }
    static override now(): number {
      return real.now() + ahead;
    }
  }
  globalThis.Date = Later as DateConstructor;
  onTestFinished(() => {
    globalThis.Date = real;
  });
  return now.toISOString().slice(0, 7);
}

describe.skipIf(path === undefined)(`a month of two people in a real browser${missing}`, () => {
  it.each(ways)(
    'goes from a file with mistakes to a closed month $name',
    { timeout: 600_000 },
    async (way) => {
      const { url, home } = await openDesk(settings, undefined, { faults, settleMs: 300 });
      const dayo = await signIn(url, 'dayo', way);
      const ada = await signIn(url, 'ada', way);

      await dayo.follow('Files');
      await dayo.follow('Drop files…');
      await dayo.choose('november.csv', salaries);
      await dayo.push('Check them');
      await dayo.sees('3 problems');
      for (const field of await dayo.page.locator('input[name^=cell-]').all()) {
        const [, column = ''] = ((await field.getAttribute('aria-label')) ?? '').split(', ');
        await dayo.write(field, mended[column] ?? column);
      }
      await dayo.push('Check again');
      await dayo.sees('It can be taken in, and would be held');
      await dayo.push('Take it in');
      await dayo.page.waitForURL(/\/batches\/november-/, { timeout: waitMs });
      await dayo.sees('Ask ada or femi, who may do it (role approve).');
      const batch = new URL(dayo.page.url()).pathname.split('/').at(-1) ?? '';

      await ada.page.goto(url);
      await ada.follow(batch);
      await ada.follow('Review and approve…');
      await ada.sees('The largest payments');
      await ada.tick('I have checked these payments, and I did not drop them');
      await ada.push('Approve');
      await ada.sees(/is approved/);
      await ada.follow('Go on');

      // Whoever watches sees how it ends, but for the payout whose answer was lost.
      await dayo.sees('6 of 7 ended');
      await ada.sees('6 of 7 ended');
      await ada.follow('Pay what is unpaid again…');
      await ada.tick('I have read what is known, and these 2 should be paid again');
      await ada.push('Pay 2 again');
      await ada.sees('2 payouts to be paid again wait');
      await ada.follow('Go on');
      // What is paid again is a new order of money, which a second person approves.
      await ada.follow('Review and approve…');
      await ada.tick('I have checked these payments, and I did not drop them');
      await ada.push('Approve');
      await ada.sees(/is approved/);
      await ada.follow('Go on');
      await ada.sees('6 of 7 ended');

      await ada.follow('LOST-1');
      await ada.follow('Settle by hand…');
      await ada.write(ada.page.getByLabel('How you know'), 'The bank says that it never came');
      await ada.push('It was not paid');
      await ada.sees('LOST-1 is settled as not paid');
      await ada.follow('Go on');
      await ada.sees('failed');
      // Its receipt on paper has what is known, and not what to do next.
      const offer = ada.page.getByText('Pay it in a new file');
      expect(await offer.isVisible()).toBe(true);
      await ada.page.emulateMedia({ media: 'print' });
      expect(await offer.isVisible()).toBe(false);
      await ada.page.emulateMedia({ media: null });

      await ada.follow('Runs');
      await ada.push('Reconcile now');
      await ada.sees(/A reconciliation runs|The last reconciliation/);
      await ada.sees(/The last reconciliation: /);

      await ada.follow('Discrepancies');
      const card = ada.page.locator('article', { hasText: 'FEE-1' });
      await ada.sees('FEE-1');
      for (const [verdict, said] of [
        ['Acknowledge', 'acknowledged'],
        ['Resolve', 'resolved'],
      ] as const) {
        const summary = card.locator('summary').first();
        if (way.keys) {
          await expect.poll(async () => summary.isVisible()).toBe(true);
          for (
            let n = 0;
            n < 300 && !(await summary.evaluate((one) => one === one.ownerDocument.activeElement));
            n++
          )
            await ada.page.keyboard.press('Tab');
          await ada.page.keyboard.press('Enter');
        } else await summary.click();
        await ada.write(card.locator('textarea'), 'The service corrects its fee');
        await ada.push(verdict);
        await ada.sees(new RegExp(said));
        await ada.follow('Go on');
      }
      expect(await card.count()).toBe(0);

      const month = passMonth();
      await ada.follow('Months');
      await ada.page.locator(`a[href="/months/${month}"]`).waitFor({ timeout: waitMs });
      await ada.page.goto(`${url}/months/${month}`);
      await ada.follow('Close this month…');
      await ada.tick('I have read what is open, and the figures of this month may be frozen');
      await ada.push('Close the month');
      await ada.sees(/is closed/);
      await ada.follow('Go on');
      await ada.sees('Prepared by');
      await ada.sees('Closed by');
      const pdf = await ada.page.pdf({ path: join(pictures, `month-${way.name}.pdf`), format: 'A4' });
      expect(pdf.length).toBeGreaterThan(10_000);

      const { payouts } = await home.json(['payouts'], 0);
      const states = Object.fromEntries(
        payouts.map((one: { reference: string; state: string }) => [one.reference, one.state]),
      );
      expect(states).toMatchObject({
        'PAY-1': 'success',
        'FAIL-1-R2': 'success',
        'FAIL-2-R2': 'success',
        'LOST-1': 'failed',
      });
      for (const reference of ['PAY-1', 'FAIL-1', 'FAIL-1-R2', 'LOST-1'])
        expect(home.sandbox.requests.bodies(reference), reference).toBe(1);
    },
  );

  it('lets one of two people approve who press at once, and tells the other the truth', {
    timeout: 300_000,
  }, async () => {
    const { url, home } = await openDesk(settings);
    const way = { keys: false, script: true };
    const dayo = await signIn(url, 'dayo', way);
    await dayo.page.goto(`${url}/batches/new`);
    await dayo.choose(
      'at-once.csv',
      salaries.replace('0123,', '1000000001,').replace('"1,000.5"', '1000.50').replace(',5,700', ',044,700'),
    );
    await dayo.push('Check them');
    await dayo.push('Take it in');
    await dayo.page.waitForURL(/\/batches\/at-once-/, { timeout: waitMs });
    const { pathname } = new URL(dayo.page.url());
    const both = [await signIn(url, 'ada', way), await signIn(url, 'femi', way)];
    for (const one of both) {
      await one.page.goto(`${url}${pathname}/approve`);
      await one.tick('I have checked these payments, and I did not drop them');
    }
    await Promise.all(both.map(async (one) => one.push('Approve')));
    const said = await Promise.all(both.map(async ({ page }) => page.locator('main h1').innerText()));
    const names = ['ada', 'femi'];
    const winner = said.findIndex((text) => /is approved/.test(text) && !/already/.test(text));
    expect(winner, said.join(' | ')).toBeGreaterThanOrEqual(0);
    const other = both[1 - winner];
    expect(await other?.page.locator('main').innerText()).toContain(`approved by ${names[winner]}`);
    const { batches } = await home.json(['batches'], 0);
    expect(batches).toHaveLength(1);
  });
});
