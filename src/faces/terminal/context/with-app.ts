import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, type AppOptions, type Level, openApp } from '../../../app/app.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { loadSettings } from './context.ts';
import {
  demandLedger,
  hasLedger,
  noLedgerYet,
  refuseStrayLedger,
  refuseWithoutLedger,
} from './ledger-there.ts';
import type { Context } from './world.ts';

/** How a command uses the ledger, and what it does when there is none. */
type Use =
  /** Reads. Without a ledger it says so, and reads a temporary empty one. */
  | 'reads'
  /** As `reads`, but silent when there is no ledger, and also works when the data folder does not exist yet. */
  | 'tries'
  /** Writes to an existing ledger. */
  | 'writes'
  /** As `writes`, but creates the ledger in a folder that `init` made: it keeps decisions made before the first batch. */
  | 'begins'
  /** Creates a missing ledger, and upgrades an older one. */
  | 'makes';

/** `kind`: the ledger's name for this process, when it opens the whole app. */
type Need<L extends Level> = {
  level: L;
  use: Use;
  kind?: string;
  /** Rewrites each line of the log. */
  renderLog?: (line: string) => string;
  /** The settings where the caller has read them; else they are read now. */
  config?: Config;
};

const checks: Record<Use, (config: Config) => Promise<void>> = {
  reads: refuseWithoutLedger,
  tries: async () => undefined,
  writes: demandLedger,
  async begins(config) {
    await refuseWithoutLedger(config);
    await refuseStrayLedger(config);
  },
  makes: refuseStrayLedger,
};

/** Opens what a command needs, runs it, and closes. A missing key stops with 2; other processes may stop it with 11. */
export async function withApp<L extends Level, T>(
  context: Context,
  { level, use, kind = 'command', renderLog, config: given }: Need<L>,
  work: (app: App<L>) => Promise<T>,
): Promise<T> {
  const config = given ?? (await loadSettings(context));
  await checks[use](config);
  const quiet = kind !== 'serve' || Boolean(context.options.quiet);
  const run = async (options: AppOptions): Promise<T> => {
    const own = { kind, quiet, breathes: level === 'whole', ...(renderLog && { renderLog }) };
    const open = () => openApp(level, { ...options, ...own });
    const app = await (use === 'makes' ? upgrading(context, config, open) : open());
    try {
      return await work(app);
    } finally {
      await app.close();
    }
  };
  if (use === 'reads' || use === 'tries') return reading(context, config, use, run);
  return run({ config });
}

/** Reads the ledger, or a temporary empty one. A real one would fix what `reconcile` expects, and the home's mode. */
async function reading<T>(
  context: Context,
  config: Config,
  use: 'reads' | 'tries',
  run: (options: AppOptions) => Promise<T>,
): Promise<T> {
  if (await hasLedger(config)) return run({ config, access: 'reads' });
  await refuseStrayLedger(config);
  if (use === 'reads' && !context.options.quiet) context.say(noLedgerYet(config));
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-look-'));
  const path = join(folder, 'ledger.db');
  try {
    const empty: Config = { ...config, ledgerFile: path, ledgerPlace: { kind: 'sqlite', path } };
    return await run({ config: empty, access: 'passing' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `open`, and again after upgrading an older ledger. Stops with 11 while another process uses the ledger. */
async function upgrading<T>(context: Context, config: Config, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { LedgerOlder } = await import('../../../core/storage/schema-version.ts');
    if (!(error instanceof LedgerOlder)) throw error;
  }
  const { upgrade } = await import('../keeping/upgrade.ts');
  await upgrade(context, config);
  return open();
}
