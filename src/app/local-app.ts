import { createDecisions } from '../decisions/decisions.ts';
import type { RetryRow } from '../domain/retry-file.ts';
import { createIntake } from '../intake/check-file.ts';
import { createReporting } from '../reporting/reporting.ts';
import type { Logger } from '../runtime/logger.ts';
import { applyWebhooks } from '../webhooks/apply-inbox.ts';
import { type LookingOptions, openLooking } from './looking-app.ts';

/** The parts that need only files and the ledger: apart from the others, as commands without the service start sooner. */
export type LocalApp = Awaited<ReturnType<typeof openLocal>>;

export type LocalOptions = LookingOptions & { log: Logger };

/** Opens the ledger and builds what reads and writes it. Close it when done; throws what the ledger file throws. */
export async function openLocal(options: LocalOptions) {
  const looking = await openLooking(options);
  const { config, clock, ledger, paths, account } = looking;
  const decisions = createDecisions({
    ledger,
    clock,
    rules: {
      referencePrefix: config.intake.referencePrefix,
      payoutLimit: config.submission.payoutLimit,
      account,
    },
  });
  // What only reads leaves stored webhooks to the next process that may write.
  const applyStored = async (signal?: AbortSignal): Promise<number> =>
    looking.access === 'reads' ? 0 : applyWebhooks({ ledger, clock, account }, signal);
  /** P20: before a file pays others again, what is heard of them is applied, and `ask` asks the service. */
  const intakeAsking = (ask: (ids: bigint[], signal?: AbortSignal) => Promise<unknown>) => {
    const prepare = async (rows: readonly RetryRow[], signal?: AbortSignal): Promise<void> => {
      await applyStored(signal);
      await ask(await decisions.rows.originals(rows), signal);
    };
    return createIntake({ ledger, config, clock, paths, retries: { ...decisions.rows, prepare } });
  };
  return {
    ...looking,
    log: options.log,
    intake: intakeAsking(async () => undefined),
    intakeAsking,
    reporting: createReporting({ ledger, config, paths, retries: decisions.rows, account }),
    decisions,
    applyWebhooks: applyStored,
  };
}
