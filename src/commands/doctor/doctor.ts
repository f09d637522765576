import type { LocalApp } from '../../app.ts';
import type { Explained } from '../../config-explain.ts';
import type { Context } from '../context.ts';
import { type Result, Stop } from '../result.ts';
import { type Check, well, wrong } from './doctor-check.ts';
import type { Examined } from './doctor-signature.ts';

type Looked = { checks: Check[]; examined?: Examined | undefined };

/** `doctor`: what is wrong, each with its fix; 0 when nothing is. Asks one list page and sends nothing else. */
export async function doctor(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const whole = options.showBody === true;
  if (whole && (!context.terminal || context.options.json))
    throw new Stop(2, '--show-body shows a whole account number: it wants a terminal, and no --json');
  const { explainConfig } = await import('../../config-explain.ts');
  const { config: configFlag, data: dataFlag } = context.options;
  const explained = explainConfig({
    cwd: context.cwd,
    env: context.env,
    ...(configFlag === undefined ? {} : { configFlag }),
    ...(dataFlag === undefined ? {} : { dataFlag }),
  });
  if (explained.kind === 'problem') return describe(unreadable(explained.problems), []);
  const reference = typeof options.reference === 'string' ? options.reference : undefined;
  const { checks, examined } = await look(explained, { offline: options.offline === true, reference });
  if (!examined) return describe(checks, []);
  const { signatureJson, signatureLines } = await import('./doctor-signature.ts');
  const lines = signatureLines(examined, { config: explained.config, whole });
  return describe(checks, lines, signatureJson(examined));
}

function unreadable(problems: readonly string[]): Check[] {
  return problems.map((problem) =>
    wrong('configuration', problem, 'correct it as it says; the other checks wait for it'),
  );
}

async function look(
  explained: Explained,
  options: { offline: boolean; reference: string | undefined },
): Promise<Looked> {
  const { config } = explained;
  const files = await import('./doctor-files.ts');
  const { checkService } = await import('./doctor-service.ts');
  const { checkQueue } = await import('./doctor-queue.ts');
  const { checkReceiver } = await import('./doctor-receiver.ts');
  const { checkSigning } = await import('./doctor-signature.ts');
  const disk = files.checkDisk(config);
  const keys = files.checkKeys(explained);
  const usable = keys.ok ? checkService : async () => [well('service', 'skipped: see keys')];
  const ledger = await lookIntoLedger(explained, options.reference);
  return {
    checks: [
      files.checkConfiguration(explained),
      keys,
      files.checkSecretFiles(explained),
      disk,
      ...ledger.checks,
      ...(await checkQueue(config, { offline: options.offline })),
      ...(await usable(config, { offline: options.offline, now: () => Date.now() })),
      ...(await checkReceiver(config, Date.now())),
      checkSigning(),
      ...ledger.after,
    ],
    examined: ledger.examined,
  };
}

type LedgerLooked = Looked & { after: Check[] };

async function lookIntoLedger({ config }: Explained, reference: string | undefined): Promise<LedgerLooked> {
  const { checkAbsentLedger, checkLedger, describeUnopened } = await import('./doctor-ledger.ts');
  const { checkRefusal, examine } = await import('./doctor-signature.ts');
  let absent: Check | null;
  try {
    absent = await checkAbsentLedger(config);
  } catch (error) {
    return { checks: [describeUnopened(config, error)], after: [] };
  }
  if (absent && reference !== undefined) throw new Stop(2, `no payout "${reference}": ${absent.detail}`);
  if (absent) return { checks: [absent], after: [] };
  const { openLocal } = await import('../../local-app.ts');
  const { createLogger } = await import('../../runtime/logger.ts');
  let app: LocalApp;
  try {
    app = await openLocal({ config, access: 'reads', log: createLogger({ quiet: true }) });
  } catch (error) {
    return { checks: [describeUnopened(config, error)], after: [] };
  }
  try {
    const { checkIntake } = await import('./doctor-intake.ts');
    const checks = [...(await checkLedger(app)), await checkIntake(app)];
    const examined = await examine(app, reference);
    return { checks, after: examined ? [checkRefusal(examined, config.mode)] : [], examined };
  } catch (error) {
    if (error instanceof Stop) throw error;
    return { checks: [describeUnopened(config, error)], after: [] };
  } finally {
    await app.close();
  }
}

function describe(
  checks: readonly Check[],
  more: readonly string[],
  signature?: Record<string, unknown>,
): Result {
  const failed = checks.filter(({ ok }) => !ok);
  const ok = failed.length === 0;
  const width = Math.max(...checks.map(({ name }) => name.length));
  return {
    code: ok ? 0 : 1,
    lines: [
      ...checks.flatMap((check) => [
        `${check.ok ? 'ok    ' : 'FAILED'} ${check.name.padEnd(width)}  ${check.detail}`,
        ...(check.fix === null ? [] : [`${' '.repeat(7 + width)}  fix: ${check.fix}`]),
      ]),
      ...more,
      '',
      ok
        ? 'all is well'
        : `${failed.length} of ${checks.length} failed: ${failed.map(({ name }) => name).join(', ')}`,
    ],
    json: { ok, checks, ...(signature && { signature }) },
  };
}
