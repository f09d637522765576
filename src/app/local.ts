import packageJson from '../../package.json' with { type: 'json' };
import type { RetryRow } from '../core/domain/retry-file.ts';
import { openTraces, traceLines } from '../core/runtime/traces.ts';
import { createReporting } from '../faces/files/reporting.ts';
import { alikeSince } from '../intake/alike-meanwhile.ts';
import { createIntake } from '../intake/intake.ts';
import { createDecisions } from '../sending/decisions/decisions.ts';
import { applyWebhooks } from '../watching/webhooks/apply-inbox.ts';
import { adviceText } from '../words/advice-text.ts';
import { rowFaultText } from '../words/row-fault-words.ts';
import { openLog } from './log.ts';
import { type AppOptions, openLooking } from './looking.ts';

/** Adds intake, decisions and reports: everything that needs only files and the ledger. */
export type LocalApp = Awaited<ReturnType<typeof openLocal>>;

/** Opens the ledger and builds the parts that read and write it. Close it when done. Throws what opening the ledger throws. */
export async function openLocal(options: AppOptions) {
  const looking = await openLooking(options);
  const { config, clock, ledger, paths, account } = looking;
  const log = traceLines(options.log ?? openLog(config, options), ledger.id);
  const traces = await openTraces({ ledgerId: ledger.id, version: packageJson.version, clock, log });
  const decisions = createDecisions({
    ledger,
    clock,
    rules: {
      referencePrefix: config.intake.referencePrefix,
      payoutLimit: config.submission.payoutLimit,
      account,
    },
    say: rowFaultText,
    alike: (trx, ids, at) => alikeSince(trx, ids, { config, at }),
  });
  // A read-only command leaves stored webhooks to the next process that may write.
  const applyStored = async (signal?: AbortSignal): Promise<number> =>
    looking.access === 'reads' ? 0 : applyWebhooks({ ledger, clock, account, traces }, signal);
  /** P20: before a file pays others again, stored webhooks are applied and `ask` asks the service about them. */
  const intakeAsking = (
    ask: (ids: bigint[], signal?: AbortSignal) => Promise<unknown>,
    serviceNow?: () => number | null | undefined,
  ) => {
    const prepare = async (rows: readonly RetryRow[], signal?: AbortSignal): Promise<void> => {
      await applyStored(signal);
      await ask(await decisions.rows.originals(rows), signal);
    };
    return createIntake({
      ledger,
      config,
      clock,
      paths,
      retries: { ...decisions.rows, prepare },
      say: adviceText,
      serviceNow,
    });
  };
  return {
    ...looking,
    log,
    traces,
    intake: intakeAsking(async () => undefined),
    intakeAsking,
    reporting: createReporting({ ledger, config, paths, retries: decisions.rows, account }),
    decisions,
    applyWebhooks: applyStored,
  };
}
