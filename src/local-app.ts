import { join } from 'node:path';
import type { Config } from './config.ts';
import { createDecisions } from './decisions/decisions.ts';
import type { RetryRow } from './domain/retry-file.ts';
import { createIntake } from './intake/check.ts';
import { createBrakes } from './ledger/brakes.ts';
import { createJobsStore } from './ledger/jobs.ts';
import { openLedger } from './ledger/open.ts';
import { applyWebhooks } from './observation/apply-webhooks.ts';
import { createReporting } from './reporting/reporting.ts';
import { type Clock, systemClock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';

/** The parts that need only files and the ledger: apart from the others, as commands that only look start sooner. */
export type LocalApp = Awaited<ReturnType<typeof openLocal>>;

/** What it is built with (`breathes` as openLedger has it); the simulation brings a clock and a ledger of its own. */
export type LocalOptions = {
  config: Config;
  log: Logger;
  maxPageCount?: number;
  breathes?: boolean;
  clock?: Clock;
  openLedger?: typeof openLedger;
};

/** Opens the ledger and builds what reads and writes it. Close it when done; throws what the ledger file throws. */
export async function openLocal(options: LocalOptions) {
  const { config, log, maxPageCount, clock = systemClock() } = options;
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
  const decisions = createDecisions({
    ledger,
    clock,
    rules: {
      mode: config.mode,
      referencePrefix: config.intake.referencePrefix,
      payoutLimit: config.submission.payoutLimit,
    },
  });
  const applyStored = (signal?: AbortSignal) => applyWebhooks({ ledger, clock, mode: config.mode }, signal);
  /** P20: before a file pays others again, what is heard of them is applied, and `ask` asks the service. */
  const intakeAsking = (ask: (ids: bigint[], signal?: AbortSignal) => Promise<unknown>) => {
    const prepare = async (rows: readonly RetryRow[], signal?: AbortSignal): Promise<void> => {
      await applyStored(signal);
      await ask(await decisions.rows.originals(rows), signal);
    };
    return createIntake({ ledger, config, clock, paths, retries: { ...decisions.rows, prepare } });
  };
  return {
    config,
    log,
    clock,
    ledger,
    paths,
    intake: intakeAsking(async () => undefined),
    intakeAsking,
    reporting: createReporting({ ledger, config, paths, retries: decisions.rows }),
    decisions,
    brakes: createBrakes({ ledger, clock, mode: config.mode, brakes: config.submission }),
    jobsStore: createJobsStore(ledger, config.mode),
    applyWebhooks: applyStored,
    close: () => ledger.close(),
  };
}
