import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { runInit } from '../../src/faces/terminal/setup/init.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { onPostgres } from './on-postgres/standing.ts';
import { temporaryFolder } from './temporary-folder.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
const severalCommands = fileURLToPath(new URL('./commands-process.ts', import.meta.url));

/** What a finished command left: exit code (null when a signal ended it), stdout and stderr. */
export type Done = { code: number | null; out: string; err: string };

/** A command under way. `line` resolves with the first line of stdout or stderr that matches. */
export type Running = {
  pid: number;
  signal(name: NodeJS.Signals): void;
  line(pattern: RegExp): Promise<string>;
  done: Promise<Done>;
};

/** A temporary home made as `init` does, with a sandbox and the environment that points at it. */
export type Home = {
  dir: string;
  sandbox: Sandbox;
  env: Record<string, string>;
  run(args: string[], env?: Record<string, string | undefined>): Promise<Done>;
  start(args: string[], env?: Record<string, string | undefined>): Running;
  /** As `start`; a home whose commands run in this process runs this one there too. */
  begin(args: string[], env?: Record<string, string | undefined>): Running;
  /** Runs with `--json`, expects this exit code, returns the one object of schema 1. */
  json(args: string[], code: number, env?: Record<string, string | undefined>): Promise<Json>;
  /** Writes a file below the home and returns its absolute path. */
  put(name: string, content: string | Buffer): string;
  read(name: string): string;
  /** The names in a folder below the home, without hidden ones, sorted; empty when it is absent. */
  names(folder: string): string[];
};

/** The database that stands for the home's ledger file. */
async function ledgerUrlFor(path: string): Promise<string> {
  const { placeFor } = await import('./on-postgres/databases.ts');
  const place = await placeFor(path);
  return place.kind === 'postgres' ? place.url : '';
}

/** What a command printed, unchecked: checking its shape is what the tests do. */
export type Json = ReturnType<typeof JSON.parse>;

type Where = { cwd: string; env?: Record<string, string | undefined> };

/** Starts the command as a user would, with nothing of this process's settings in its environment. */
export function start(args: string[], where: Where): Running {
  return startScript([bin, ...args], where);
}

/** Starts one process that runs the commands one after the other, and prints their exit codes as its last line. */
export function startSeveral(commands: string[][], where: Where): Running {
  return startScript([severalCommands, JSON.stringify(commands)], where);
}

function startScript(args: string[], where: Where): Running {
  const base = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COUNTERFOIL_|NODE_|VITEST|VITE_)/.test(name)),
  );
  const child = spawn(process.execPath, args, {
    cwd: where.cwd,
    env: { ...base, ...where.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = createOutput();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => output.add('out', chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => output.add('err', chunk));
  const done = new Promise<Done>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output.end() }));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await done.catch(() => undefined);
  });
  return { pid: child.pid ?? 0, signal: (name) => void child.kill(name), done, line: output.line };
}

/** What a command prints while it runs, and who waits for a line of it. */
export function createOutput() {
  const text = { out: '', err: '' };
  let ended = false;
  const waiting = new Set<() => void>();
  const lookAll = (): void => {
    for (const look of waiting) look();
  };
  return {
    add(stream: 'out' | 'err', chunk: string): void {
      text[stream] += chunk;
      lookAll();
    },
    end(): typeof text {
      ended = true;
      lookAll();
      return text;
    },
    line: (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = `${text.out}\n${text.err}`.split('\n').find((line) => pattern.test(line));
          if (found === undefined && !ended) return;
          waiting.delete(look);
          if (found === undefined) reject(new Error(`ended without ${pattern}:\n${text.out}\n${text.err}`));
          else resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Makes a home as `init` does, and a sandbox; settings are overridden by the environment, schedules are all off. */
export async function makeHome(
  options: SandboxOptions = {},
  settings: Record<string, string> = {},
): Promise<Home> {
  const dir = temporaryFolder();
  await runInit(dir);
  const sandbox = await sandboxAhead({ settleMs: 20, webhookRetryMs: 50, ...options });
  onTestFinished(() => sandbox.stop());
  const { test } = sandbox.keys;
  const schedules = ['INTAKE', 'SUBMIT', 'FOLLOW_UP', 'RECONCILE', 'RECONCILE_FULL', 'REPORT'];
  const env: Record<string, string> = {
    ...Object.fromEntries(schedules.map((name) => [`COUNTERFOIL_SCHEDULES_${name}`, ''])),
    COUNTERFOIL_SERVICE_BASE_URL: sandbox.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0',
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0',
    COUNTERFOIL_RECEIVER_PORT: '0',
    COUNTERFOIL_ADMIN_PORT: '0',
    COUNTERFOIL_TEST_SECRET_KEY: test.secretKey,
    COUNTERFOIL_TEST_PUBLIC_KEY: test.publicKey,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: test.encryptionKey,
    ...(onPostgres && { COUNTERFOIL_LEDGER_URL: await ledgerUrlFor(join(dir, 'data/ledger.db')) }),
    ...settings,
  };
  const begin: Home['start'] = (args, more = {}) => start(args, { cwd: dir, env: { ...env, ...more } });
  const home: Home = {
    dir,
    sandbox,
    env,
    start: begin,
    begin,
    run: (args, more) => begin(args, more).done,
    async json(args, code, more) {
      const done = await begin([...args, '--json'], more).done;
      expect(done.code, `${args.join(' ')}\n${done.out}\n${done.err}`).toBe(code);
      return parseJson(done);
    },
    put(name, content) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    read: (name) => readFileSync(join(dir, name), 'utf8'),
    names: (folder) =>
      existsSync(join(dir, folder))
        ? readdirSync(join(dir, folder))
            .filter((name) => !name.startsWith('.'))
            .toSorted()
        : [],
  };
  return home;
}

/**
 * A sandbox whose clock goes on by a second when all is told to settle: what was just sent then lies before the second
 * that a listing counts up to, and a `reconcile` need not wait for that second to pass (P28).
 */
async function sandboxAhead(options: SandboxOptions): Promise<Sandbox> {
  let aheadMs = 0;
  const sandbox = await createSandbox({
    now: () => Date.now() + aheadMs,
    strictSignature: true,
    ...options,
  });
  return {
    ...sandbox,
    async settleAll() {
      await sandbox.settleAll();
      aheadMs += 1000;
    },
  };
}

/** Text that was broken to the width of the terminal, in one line. */
export function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** The one JSON object that `--json` prints. */
export function parseJson(done: Done): Json {
  const lines = done.out.trim().split('\n');
  expect(lines, `expected exactly one line of JSON:\n${done.out}\n${done.err}`).toHaveLength(1);
  const value: Json = JSON.parse(lines[0] ?? '');
  expect(value).toMatchObject({ schema: 1 });
  return value;
}

export const header = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';

/** A payout's row; every number makes another account and amount. */
export function row(
  n: number,
  patch: Partial<Record<'reference' | 'account' | 'amount', string>> = {},
): string {
  const reference = patch.reference ?? `PAY-${String(n).padStart(4, '0')}`;
  const account = patch.account ?? String(1_000_000_000 + n);
  return `${reference},${account},Adaeze Okonkwo,058,${patch.amount ?? `${1000 + n}.50`},NGN,Salary,Acme Ltd`;
}

/** A batch of that many payouts, references PAY-0001 and on. */
export function batchOf(count: number, first = 1): string {
  return csv(...Array.from({ length: count }, (_, i) => row(first + i)));
}

export function csv(...rows: string[]): string {
  return `${[header, ...rows].join('\n')}\n`;
}

/** The references PAY-0001 and on. */
export function references(count: number, first = 1): string[] {
  return Array.from({ length: count }, (_, i) => `PAY-${String(first + i).padStart(4, '0')}`);
}

/** How many payouts `status --json` counts, in all states together. */
export function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}

/** Polls a fact until it holds; fails with the last value after `withinMs`. */
export async function until<T>(
  withinMs: number,
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms; last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
