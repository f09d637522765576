import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App, LocalApp } from '../app/app.ts';
import type { Access, LookingApp } from '../app/looking-app.ts';
import { createRedactor, type Redact } from '../domain/redact.ts';
import { type Config, secretsOf } from '../settings/settings.ts';
import { nameOf } from '../storage/place.ts';
import { Stop } from './result.ts';
import type { Context } from './world.ts';

/** Reads the configuration, or stops with 2 and every problem in one message, and in a home of the other mode (P24). */
export async function loadSettings(context: Context): Promise<Config> {
  const { loadConfig } = await import('../settings/settings.ts');
  const { config: configFlag, data: dataFlag } = context.options;
  const loaded = loadConfig({
    cwd: context.cwd,
    env: context.env,
    ...(configFlag === undefined ? {} : { configFlag }),
    ...(dataFlag === undefined ? {} : { dataFlag }),
  });
  if (loaded.kind === 'problem') throw new Stop(2, loaded.problems.join('\n'));
  const { assertHomeMode } = await import('../custody/home-mode.ts');
  assertHomeMode(loaded.config.dataDir, loaded.config.mode);
  if (!context.options.quiet)
    for (const warning of loaded.config.warnings) context.say(`warning: ${warning}`);
  return loaded.config;
}

/** Runs with the ledger alone, to look: what takes in, decides and reports is not even loaded. */
export async function withLooking<T>(context: Context, work: (app: LookingApp) => Promise<T>): Promise<T> {
  return reading(context, async (config, access) => {
    const { openLooking } = await import('../app/looking-app.ts');
    return closing(await openLooking({ config, access }), work);
  });
}

/** As {@link withLooking}, with the parts that need more of the ledger than to look. It changes nothing either. */
export async function withReading<T>(context: Context, work: (app: LocalApp) => Promise<T>): Promise<T> {
  return reading(context, (config, access) => runLocal(config, access, work));
}

/**
 * Runs with a ledger that is only read. Where there is none it makes none, since a ledger's birth decides what `reconcile`
 * expects, and its mode what the home is for: it says so, and looks into an empty one that is gone afterwards.
 */
async function reading<T>(
  context: Context,
  work: (config: Config, access: Access) => Promise<T>,
): Promise<T> {
  const config = await loadSettings(context);
  await refuseWithoutLedger(config);
  return readingOrPassing(context, config, work);
}

async function readingOrPassing<T>(
  context: Context,
  config: Config,
  work: (config: Config, access: Access) => Promise<T>,
): Promise<T> {
  if (await hasLedger(config)) return work(config, 'reads');
  await refuseStrayLedger(config);
  if (!context.options.quiet) context.say(noLedgerYet(config));
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-look-'));
  const path = join(folder, 'ledger.db');
  try {
    return await work({ ...config, ledgerFile: path, ledgerPlace: { kind: 'sqlite', path } }, 'passing');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs with the ledger and files only; no key is needed and nothing is asked of the service. Stops where there is no
 * ledger, unless `makes`: what is decided before the first batch is kept too.
 */
export async function withLocal<T>(
  context: Context,
  work: (app: LocalApp) => Promise<T>,
  { makes = false } = {},
): Promise<T> {
  const config = await loadSettings(context);
  await (makes ? refuseWithoutLedger(config) : demandLedger(config));
  return runLocal(config, 'writes', work);
}

/** As {@link withLocal}, for what takes batches in: it makes the ledger where there is none, and upgrades an older one. */
export async function withLocalOrNew<T>(context: Context, work: (app: LocalApp) => Promise<T>): Promise<T> {
  const config = await loadSettings(context);
  return closing(await upgrading(context, config, () => openLocally(config, 'writes')), work);
}

/** As {@link withReading}, also in a data folder that is not made yet. */
export async function withLocalOrPassing<T>(
  context: Context,
  work: (app: LocalApp) => Promise<T>,
): Promise<T> {
  const hushed = { ...context, options: { ...context.options, quiet: true } };
  return readingOrPassing(hushed, await loadSettings(context), (config, access) =>
    runLocal(config, access, work),
  );
}

async function runLocal<T>(config: Config, access: Access, work: (app: LocalApp) => Promise<T>): Promise<T> {
  return closing(await openLocally(config, access), work);
}

async function openLocally(config: Config, access: Access): Promise<LocalApp> {
  if (access === 'writes') await refuseStrayLedger(config);
  const { openLocal } = await import('../app/local-app.ts');
  const { createLogger } = await import('../runtime/logger.ts');
  const log = createLogger({ quiet: true, redact: redactorOf(config) });
  return openLocal({ config, access, log });
}

/** Runs `open`, and again after an upgrade where the ledger is of an earlier version. Stops with 11 beside others. */
async function upgrading<T>(context: Context, config: Config, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { LedgerOlder } = await import('../storage/schema-version.ts');
    if (!(error instanceof LedgerOlder)) throw error;
  }
  const { upgrade } = await import('./upgrading.ts');
  await upgrade(context, config);
  return open();
}

async function closing<A extends { close(): Promise<void> }, T>(
  app: A,
  work: (app: A) => Promise<T>,
): Promise<T> {
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/**
 * A mistyped `ledger.url` must not begin an empty ledger beside batches that were taken in: it would know none of their
 * references (P22).
 */
async function refuseStrayLedger(config: Config): Promise<void> {
  const archive = join(config.dataDir, 'archive');
  if (existsSync(config.ledgerFile) || !statSync(archive, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!readdirSync(archive).some((name) => name.endsWith('.csv'))) return;
  if (await hasLedger(config)) return;
  throw new Stop(
    2,
    `${archive} holds batches that were taken in, but there is no ledger ${nameOf(config.ledgerPlace)}: check ledger.url and --data, or put a backup in its place with counterfoil restore. Nothing was done`,
  );
}

/**
 * A mistyped folder must not look like a ledger in which nothing happened. A data folder that `init` made is one in
 * which nothing was taken in yet.
 */
export async function refuseWithoutLedger(config: Config): Promise<void> {
  const { dataDir } = config;
  if (existsSync(join(dataDir, 'inbox')) || (await hasLedger(config))) return;
  throw new Stop(
    2,
    `no ledger in ${dataDir} (${nameOf(config.ledgerPlace)} is not there): check --data and ledger.url, or run counterfoil init and submit`,
  );
}

/** Stops with 2 where there is no ledger: for commands about what one holds. */
export async function demandLedger(config: Config): Promise<void> {
  await refuseWithoutLedger(config);
  await refuseStrayLedger(config);
  if (!(await hasLedger(config))) throw new Stop(2, noLedgerYet(config));
}

export function noLedgerYet({ ledgerPlace }: Config): string {
  return `there is no ledger yet at ${nameOf(ledgerPlace)}: the first counterfoil submit makes it`;
}

export async function hasLedger({ ledgerFile, ledgerPlace }: Config): Promise<boolean> {
  if (existsSync(ledgerFile)) return true;
  const { isHalfSwapped } = await import('../custody/swap.ts');
  // An interrupted restore has a name of its own for the ledger; opening it says so.
  if (isHalfSwapped(ledgerFile)) return true;
  const { isLedgerThere } = await import('../storage/exists.ts');
  return isLedgerThere(ledgerPlace);
}

function redactorOf(config: Config): Redact {
  return createRedactor(secretsOf(config));
}

/** What makes a ledger where there is none, and upgrades an older one; all else needs one as it is. */
const makers = ['serve', 'submit', 'reconcile'];

/** Runs with the whole worker, as `kind`; a missing key stops with 2. */
export async function withApp<T>(context: Context, kind: string, work: (app: App) => Promise<T>): Promise<T> {
  const config = await loadSettings(context);
  const makes = makers.includes(kind);
  await (makes ? refuseStrayLedger(config) : demandLedger(config));
  const { MissingKeys, openApp } = await import('../app/app.ts');
  const { createLogger } = await import('../runtime/logger.ts');
  const quiet = kind !== 'serve' || Boolean(context.options.quiet);
  const log = createLogger({ quiet, redact: redactorOf(config) });
  const open = () =>
    openApp({ config, log, breathes: true }, kind).catch((error: unknown) => {
      throw error instanceof MissingKeys ? new Stop(2, error.message) : error;
    });
  return closing(await (makes ? upgrading(context, config, open) : open()), work);
}

/** Live mode sends real money: it wants the configuration, the command line, and a person or `--yes`. */
export async function confirmSending(context: Context, config: Config, live: boolean): Promise<void> {
  if (!context.options.quiet)
    context.say(`mode ${config.mode}, service ${config.service.baseUrl}, configuration ${config.configFile}`);
  if (config.mode !== 'live') return;
  if (!live)
    throw new Stop(2, 'the configuration says mode: live; add --live to send real money. Nothing was sent');
  await confirm(context, 'Send real money now?');
}

/** Asks a yes/no question on the terminal; without one, only `--yes` answers. Anything but yes stops with 2. */
export async function confirm(context: Context, question: string): Promise<void> {
  if (context.options.yes) return;
  if (!context.terminal) throw new Stop(2, `${question} There is no terminal to ask on: add --yes`);
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Stop(2, 'stopped: nothing was done');
}
