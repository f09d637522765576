import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Block, blocksOf, comparable, type Step } from './blocks.ts';
import { root } from './pages.ts';
import { openShell, type Shell } from './shell.ts';

/** A block that ran, with what each of its commands printed. */
export type Ran = { block: Block; printed: string[][] };

/** Every block with commands of the README and of docs/: getting started first, since later pages go on in its folder. */
export function allBlocks(): Block[] {
  const first = ['README.md', 'docs/getting-started.md'];
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .toSorted();
  const pages = [...first, ...docs.filter((name) => !first.includes(name)), 'config/deploy/README.md'];
  return pages.flatMap((page) => blocksOf(page, readFileSync(join(root, page), 'utf8')));
}

/**
 * Runs every block that can run here, in order. Throws when a command fails. That input is refused (exit code 3) or a
 * person is needed (4) may be what a page shows.
 * The README's commands run in a new checkout, the others in an empty folder.
 */
export async function runBlocks(): Promise<Ran[]> {
  const runnable = allBlocks().filter(({ run }) => run.kind !== 'not_run');
  const isReadme = ({ page }: Block): boolean => page === 'README.md';
  const inCheckout = await runIn({ checkout: true }, runnable.filter(isReadme));
  const elsewhere = await runIn(
    { checkout: false },
    runnable.filter((block) => !isReadme(block)),
  );
  return [...inCheckout, ...elsewhere];
}

async function runIn(where: { checkout: boolean }, blocks: Block[]): Promise<Ran[]> {
  await refuseTakenPort(8900);
  const shell = openShell(where);
  try {
    const ran: Ran[] = [];
    for (const block of blocks) ran.push({ block, printed: await runBlock(shell, block) });
    return ran;
  } finally {
    shell.end();
  }
}

async function runBlock(shell: Shell, { page, line, run, steps }: Block): Promise<string[][]> {
  const printed: string[][] = [];
  for (const { command } of steps) {
    if (run.kind === 'background') {
      printed.push(await shell.background(command));
      continue;
    }
    const { code, lines } = shell.run(command);
    if (code !== 0 && code !== 3 && code !== 4)
      throw new Error(`${page}:${line}: "${command}" ended with ${code}:\n${lines.join('\n')}`);
    printed.push(lines);
  }
  return printed;
}

/** The readers' sandbox listens on its default port. Two of them cannot. */
function refuseTakenPort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', () =>
      reject(new Error(`port ${port} is taken: stop what listens there, then try again`)),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}

/** True when the page shows what the command prints. A line `…` stands for lines that the page leaves out. */
export function isAsShown({ output }: Step, printed: string[]): boolean {
  const expected = output.map(comparable);
  const actual = cut(output, printed).map(comparable);
  return expected.length === actual.length && expected.every((line, index) => line === actual[index]);
}

/** The printed lines, shortened where the page shortens them. */
function cut(output: string[], printed: string[]): string[] {
  const gap = output.indexOf('…');
  if (gap < 0 || printed.length < output.length) return printed;
  const after = output.length - gap - 1;
  return [...printed.slice(0, gap), '…', ...(after > 0 ? printed.slice(-after) : [])];
}

/** Writes into the pages what their commands print now. What differs only in times, ids and the like stays as it is. */
export async function writeExamples(): Promise<void> {
  const byPage = Map.groupBy(await runBlocks(), ({ block }) => block.page);
  for (const [page, ran] of byPage) {
    let text = readFileSync(join(root, page), 'utf8');
    for (const one of ran.toReversed()) {
      const { from, to } = one.block;
      text = text.slice(0, from) + bodyOf(one, text.slice(from, to)) + text.slice(to);
    }
    writeFileSync(join(root, page), text);
  }
}

function bodyOf({ block, printed }: Ran, before: string): string {
  const indent = /^ */.exec(before)?.[0] ?? '';
  const lines = block.steps.flatMap((step, index) => {
    const now = printed[index] ?? [];
    const output = isAsShown(step, now) ? step.output : cut(step.output, now);
    return [...`$ ${step.command}`.split('\n'), ...output];
  });
  return lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('');
}
