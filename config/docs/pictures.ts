import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './pages.ts';
import { openShell, type Shell } from './shell.ts';
import { palettes, terminalSvg } from './terminal-picture.ts';

const folder = join(root, 'docs/pictures');
const themes = ['light', 'dark'] as const;

/** Draws the README's pictures from the real program: a terminal and the first screen of the demo's report. */
export async function drawPictures(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const text = await terminalText();
  for (const theme of themes)
    writeFileSync(join(folder, `terminal-${theme}.svg`), terminalSvg(text, palettes[theme]));
  await drawReport();
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

async function drawReport(): Promise<void> {
  const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (path === undefined) throw new Error('the picture of the report needs Chromium');
  const demo = mkdtempSync(join(tmpdir(), 'counterfoil-picture-'));
  const shell = openShell({ checkout: false });
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
  try {
    shell.run(`TMPDIR=${demo} counterfoil demo`);
    const report = readdirSync(demo, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('report.html'),
    );
    if (report === undefined) throw new Error('the demo wrote no report');
    for (const colorScheme of themes) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
      await page.goto(`file://${join(demo, report)}`);
      await page.screenshot({ path: join(folder, `report-${colorScheme}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
    shell.end();
    rmSync(demo, { recursive: true });
  }
}
