import { join } from 'node:path';
import { accountOf, type ServiceAccount } from '../core/domain/origin.ts';
import { type Clock, systemClock } from '../core/runtime/clock.ts';
import { hostOf } from '../core/runtime/host.ts';
import { createJobsStore } from '../core/runtime/jobs.sql.ts';
import type { Logger } from '../core/runtime/logger.ts';
import type { createWorkers } from '../core/runtime/worker-lock.ts';
import type { Transport } from '../core/service/transport.ts';
import type { Config } from '../core/settings/settings.ts';
import { assertHomeMode, bindHome } from '../custody/home-mode.ts';
import { openLedger } from '../custody/open-ledger.ts';
import { lyingInInbox } from '../intake/inbox.ts';
import { barrierHalt, type Halt } from '../sending/halt.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { createBrakes } from '../sending/open-brakes.sql.ts';

/**
 * How the ledger may be used: `reads` creates and changes nothing; `passing` opens a temporary ledger, which binds no
 * home.
 */
export type LedgerUse = 'writes' | 'reads' | 'passing';

/** What an app is built with. The simulation brings its own clock, ledger, transport and workers. */
export type AppOptions = {
  config: Config;
  access?: LedgerUse;
  maxPageCount?: number;
  /** As in openLedger. */
  breathes?: boolean;
  log?: Logger;
  /** Used when `log` is not given: false also logs what is neither a warning nor an error. */
  quiet?: boolean;
  /** The same: rewrites each line of the log. */
  renderLog?: (line: string) => string;
  /** The ledger's name for this process. */
  kind?: string;
  clock?: Clock;
  openLedger?: typeof openLedger;
  transport?: Transport;
  createWorkers?: typeof createWorkers;
};

/** The ledger and the parts that read it. */
export type LookingApp = Awaited<ReturnType<typeof openLooking>>;

/**
 * Opens the ledger and builds the parts that read it. Close it when done. Throws what opening the ledger throws, and
 * OtherMode before it reads anything in a home of the other mode (P24).
 */
export async function openLooking(options: AppOptions) {
  const { config, access = 'writes', maxPageCount, clock = systemClock() } = options;
  const { mode, dataDir } = config;
  assertHomeMode(dataDir, mode);
  const ledger = await (options.openLedger ?? openLedger)(config.ledgerPlace, {
    now: clock.iso,
    mode,
    reads: access === 'reads',
    breathes: options.breathes ?? false,
    ...(maxPageCount === undefined ? {} : { maxPageCount }),
  });
  try {
    if (access === 'writes') bindHome(dataDir, mode);
  } catch (error) {
    await ledger.close();
    throw error;
  }
  const host = hostOf(ledger, dataDir);
  const { balance, account_name: accountName } = config.service.extras;
  const rules = { ...config.submission, looksAhead: balance !== '' || accountName !== '' };
  const folder = (name: string): string => join(dataDir, name);
  const paths = {
    inbox: folder('inbox'),
    archive: folder('archive'),
    rejected: folder('rejected'),
    reports: folder('reports'),
  };
  const brakesBy = (serviceNow: () => number | null | undefined) =>
    createBrakes({
      ledger,
      clock,
      brakes: rules,
      serviceNow,
      async confirmFiles(day) {
        const { confirmFiles } = await import('../intake/confirm.ts');
        await confirmFiles({ ledger, config, clock }, day);
      },
      async fileWaits(day) {
        const { fileWaits } = await import('../intake/confirm.ts');
        return fileWaits(ledger, day);
      },
    });
  return {
    config,
    account: accountIn(config),
    clock,
    access,
    ledger,
    paths,
    /** Why nothing may be sent, if so. It also covers a ledger that only this look found to have gone back in time (P25). */
    findHalt: async (): Promise<Halt | undefined> =>
      ledger.unnotedFall ? barrierHalt(ledger.unnotedFall) : await findHalt(ledger.db),
    /** The files in the inbox and in its folder of expected collections; takes none in. */
    lying: () => lyingInInbox(paths.inbox),
    brakes: brakesBy(() => null),
    /** The same brakes, which also go by the service's clock (P38). */
    brakesBy,
    host,
    jobsStore: createJobsStore(ledger, host),
    close: () => ledger.close(),
  };
}

/** The account that this configuration reaches (P31); null when its mode has no key. */
export function accountIn({ mode, keys, service }: Config): ServiceAccount | null {
  const { secretKeys = [], encryptionKeys = [] } = keys[mode] ?? {};
  return accountOf(service.baseUrl, { secretKeys, encryptionKeys }, service.authorizationKey);
}
