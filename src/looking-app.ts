import { join } from 'node:path';
import type { Config } from './config.ts';
import { lyingInInbox } from './intake/inbox.ts';
import { createJobsStore } from './ledger/jobs.ts';
import { openLedger } from './ledger/open.ts';
import { createBrakes } from './ledger/sending/brakes.ts';
import { type Clock, systemClock } from './runtime/clock.ts';

/** What a command needs that only looks: apart from all that takes in, decides and reports, so that it starts sooner. */
export type LookingApp = Awaited<ReturnType<typeof openLooking>>;

/** What it is built with (`breathes` as openLedger has it); the simulation brings a clock and a ledger of its own. */
export type LookingOptions = {
  config: Config;
  maxPageCount?: number;
  breathes?: boolean;
  clock?: Clock;
  openLedger?: typeof openLedger;
};

/** Opens the ledger and builds what reads it. Close it when done; throws what the ledger file throws. */
export async function openLooking(options: LookingOptions) {
  const { config, maxPageCount, clock = systemClock() } = options;
  const ledger = await (options.openLedger ?? openLedger)(config.ledgerPlace, {
    now: clock.iso,
    breathes: options.breathes ?? false,
    ...(maxPageCount === undefined ? {} : { maxPageCount }),
  });
  const folder = (name: string): string => join(config.dataDir, name);
  const paths = {
    inbox: folder('inbox'),
    archive: folder('archive'),
    rejected: folder('rejected'),
    reports: folder('reports'),
  };
  return {
    config,
    clock,
    ledger,
    paths,
    /** What lies in the inbox and in its folder of expected collections; takes nothing. */
    lying: () => lyingInInbox(paths.inbox),
    brakes: createBrakes({
      ledger,
      clock,
      mode: config.mode,
      brakes: config.submission,
      async confirmFiles() {
        const { confirmFiles } = await import('./intake/confirm.ts');
        await confirmFiles({ ledger, config, clock });
      },
    }),
    jobsStore: createJobsStore(ledger, config.mode),
    close: () => ledger.close(),
  };
}
