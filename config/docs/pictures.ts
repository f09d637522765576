import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { root } from './pages.ts';
import { openShell, type Shell } from './shell.ts';
import { palettes, terminalSvg } from './terminal-picture.ts';

const folder = join(root, 'docs/pictures');
const themes = ['light', 'dark'] as const;

/** Draws the pictures of the pages from the real program: a terminal, the first screen of the demo's report, and the desk. */
export async function drawPictures(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const text = await terminalText();
  for (const theme of themes)
    writeFileSync(join(folder, `terminal-${theme}.svg`), terminalSvg(text, palettes[theme]));
  const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (path === undefined) throw new Error('the pictures of pages need Chromium');
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
  try {
    await drawReport(browser);
    await drawDesk(browser);
  } finally {
    await browser.close();
  }
}

/** A batch that is paid and reconciled at a service that shows some wrong amounts, with the terminal's colours. */
async function terminalText(): Promise<string> {
  const shell = openShell({ checkout: false });
  try {
    shell.run('counterfoil init --sandbox trial && mv trial/samples/*.csv trial');
    shell.run('cd trial');
    await shell.background('counterfoil sandbox --scenario wrong-amount');
    return ['submit november-salaries.csv', 'reconcile']
      .map((args) => `\u001b[1m$ counterfoil ${args}\u001b[0m\n${onTerminal(shell, `counterfoil ${args}`)}\n`)
      .join('\n');
  } finally {
    shell.end();
  }
}

/** What a command prints on a terminal of 88 columns. `script` lends it one. */
function onTerminal(shell: Shell, command: string): string {
  const { lines } = shell.run(
    `env -u NO_COLOR TERM=xterm-256color script -qec 'stty cols 88 rows 50; ${command}' /dev/null </dev/null`,
  );
  return lines.join('\n');
}

async function drawReport(browser: Browser): Promise<void> {
  const demo = mkdtempSync(join(tmpdir(), 'counterfoil-picture-'));
  const shell = openShell({ checkout: false });
  try {
    shell.run(`TMPDIR=${demo} counterfoil demo`);
    const report = readdirSync(demo, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('report.html'),
    );
    if (report === undefined) throw new Error('the demo wrote no report');
    await drawPage(browser, 'report', `file://${join(demo, report)}`);
  } finally {
    shell.end();
    rmSync(demo, { recursive: true });
  }
}

/** The first page of the desk, for a person who may do everything, after a run that found differences. */
async function drawDesk(browser: Browser): Promise<void> {
  const shell = openShell({ checkout: false });
  const token = 'a-token-of-a-picture-and-of-nothing-else';
  try {
    shell.run('counterfoil init --sandbox trial && mv trial/samples/*.csv trial');
    shell.run(`cd trial && echo 'COUNTERFOIL_ADMIN_TOKENS=ngozi:${token}' >> .env`);
    await shell.background('counterfoil sandbox --scenario wrong-amount');
    for (const args of ['submit november-salaries.csv', 'reconcile']) shell.run(`counterfoil ${args}`);
    await shell.background('counterfoil serve');
    const extraHTTPHeaders = { authorization: `Bearer ${token}` };
    await drawPage(browser, 'desk', 'http://127.0.0.1:8788/', { extraHTTPHeaders });
  } finally {
    shell.end();
  }
}

/** Writes the first screen of a page in each theme. */
async function drawPage(
  browser: Browser,
  name: string,
  address: string,
  options: BrowserContextOptions = {},
): Promise<void> {
  for (const colorScheme of themes) {
    const page = await browser.newPage({ ...options, colorScheme, viewport: { width: 1280, height: 800 } });
    await page.goto(address);
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
    await page.close();
  }
}
