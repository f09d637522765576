import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);
/** Pages of one kind differ in what they name only: so many of each are enough. */
const ofEachKind = 3;

export type PageTime = { kind: string; path: string; ms: number; paintMs: number | null };

/** Times every page to which the pages link, as a person with all rights: the slowest of each kind. */
export async function timePages(url: string, token: string): Promise<PageTime[]> {
  const headers = { authorization: `Bearer ${token}` };
  const waiting = ['/', '/payouts?q=Number+999999', '/payouts?state=success', '/payouts?currency=NGN'];
  waiting.push(
    '/payouts?since=2020-01-01',
    '/payouts?amount=1500.50',
    '/payouts?bank=058',
    '/payouts?q=ACME-2026-77',
  );
  const seen = new Set<string>();
  const times = new Map<string, PageTime[]>();
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    const some = times.get(kind) ?? [];
    if (seen.has(path) || some.length === ofEachKind) continue;
    seen.add(path);
    times.set(kind, some);
    const began = performance.now();
    const answer = await fetch(`${url}${path}`, { headers, redirect: 'manual' });
    const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
    const text = isPage ? await answer.text() : '';
    if (!isPage) await answer.body?.cancel();
    some.push({ kind, path, ms: performance.now() - began, paintMs: null });
    if (answer.status >= 500) throw new Error(`${path} answered ${answer.status}`);
    for (const [, link = ''] of text.matchAll(/href="(\/[^"#]*)"/g))
      waiting.push(link.replaceAll('&#38;', '&'));
  }
  const slowest = [...times.values()].flatMap((some) => some.toSorted((a, b) => b.ms - a.ms).slice(0, 1));
  return paint(url, token, slowest);
}

/** The same address without what it names. */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://desk');
  const [, list = '', name, ...rest] = pathname.split('/');
  const part = name === undefined ? [list] : [list, known.has(name) ? name : 'NAME', ...rest];
  const keys = [...searchParams.keys()].join('&');
  return `/${part.join('/')}${keys === '' ? '' : `?${keys}`}`;
}

const known = new Set(['new', 'all', 'index.html']);

/** When a browser shows the first words of each page. */
async function paint(url: string, token: string, pages: readonly PageTime[]): Promise<PageTime[]> {
  if (browserPath === undefined) return [...pages];
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ extraHTTPHeaders: { authorization: `Bearer ${token}` } });
  const done: PageTime[] = [];
  for (const one of pages) {
    const isPage = !/csv|reports|format/.test(one.path);
    if (isPage) await page.goto(`${url}${one.path}`, { waitUntil: 'load', timeout: 120_000 });
    const first = `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true }))`;
    done.push({ ...one, paintMs: isPage ? await page.evaluate<number>(first) : null });
  }
  await browser.close();
  return done;
}
