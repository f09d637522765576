import { type App, openApp } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { Explained } from '../../../core/settings/explain.ts';
import type { Unreadable } from '../../../core/settings/settings.ts';
import type { SignatureJson } from '../../../core/shapes/setup-shapes.ts';
import { findOn, type Scene } from '../../../findings/finders.ts';
import { type Finding, findingJson, isShown } from '../../../findings/finding.ts';
import { readable } from '../../../words/readable.ts';
import { settingsPlaces, settingsProblem } from '../context/context.ts';
import { refuseOtherAccount } from '../context/home-owner.ts';
import { fail, type Result, Stop } from '../context/result.ts';
import type { Context, Handler } from '../context/world.ts';
import type { Paint } from '../kit/ink.ts';
import { terminalOf } from '../kit/terminal.ts';
import { wrap } from '../kit/wrap.ts';
import { type DoctorCheck, skipped, wrong } from './doctor-check.ts';
import type { Examined } from './doctor-signature.ts';

/** `findings`: what `status` finds; null where nobody could look. */
type Looked = {
  checks: DoctorCheck[];
  examined?: Examined | undefined;
  findings?: readonly Finding[] | null | undefined;
};

/** `doctor`: prints what is wrong, each with its fix; exits 0 when nothing is. Reads one list page and sends nothing else. */
export const doctor: Handler = async (context, _args, options) => {
  const whole = options.showBody === true;
  if (whole && (!context.terminal || context.options.json))
    throw new Stop('--show-body shows a whole account number: it wants a terminal, and no --json');
  const { explainConfig } = await import('../../../core/settings/explain.ts');
  const explained = explainConfig(settingsPlaces(context));
  if (explained.kind === 'problem')
    return describe({ ...context, time: (instant) => instant }, unreadable(explained), []);
  refuseOtherAccount(explained.config);
  const { time } = terminalOf(context, explained.config, new Date().toISOString());
  const reference = typeof options.reference === 'string' ? options.reference : undefined;
  const { checks, examined, findings } = await look(explained, {
    offline: options.offline === true,
    reference,
  });
  if (options.alert === true) {
    const { tryChannels } = await import('./doctor-alerts.ts');
    checks.push(...(await guarded('test alert', () => tryChannels(explained.config))));
  }
  if (!examined) return describe({ ...context, time, findings }, checks, []);
  const { signatureJson, signatureLines } = await import('./doctor-signature.ts');
  const lines = signatureLines(examined, { config: explained.config, whole });
  return describe({ ...context, time, findings }, checks, lines, signatureJson(examined));
};

function unreadable({ problems, ...rest }: Unreadable): DoctorCheck[] {
  return problems.map((problem) =>
    wrong(
      'configuration',
      settingsProblem({ ...rest, problems: [problem] }),
      'correct it as it says; the other checks wait for it',
    ),
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
  const keys = files.checkKeys(explained);
  const usable = keys.ok ? checkService : async () => [skipped('service', 'see keys')];
  const ledger = await lookIntoLedger(explained, options.reference);
  return {
    checks: [
      files.checkConfiguration(explained),
      keys,
      ...(await guarded('secret files', () => files.checkSecretFiles(explained))),
      ...(await guarded('disk', () => files.checkDisk(config))),
      ...ledger.checks,
      ...(await guarded('queue', () => checkQueue(config, { offline: options.offline }))),
      ...(await guarded('service', () =>
        usable(config, { offline: options.offline, now: () => Date.now() }),
      )),
      ...(await guarded('receiver', () =>
        checkReceiver(config, { nowMs: Date.now(), serves: ledger.serves }),
      )),
      checkSigning(),
      ...ledger.after,
    ],
    examined: ledger.examined,
    findings: ledger.findings,
  };
}

/** Runs a check. One that throws does not hide the others. */
async function guarded(
  name: string,
  check: () => DoctorCheck | DoctorCheck[] | Promise<DoctorCheck | DoctorCheck[]>,
): Promise<DoctorCheck[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    const { problem = 'it cannot be looked at' } = fail(error);
    return [wrong(name, problem, 'do as it says, then run counterfoil doctor again')];
  }
}

/** `serves`: a daemon runs on the ledger, on any machine; null when this account cannot see it. */
type LedgerLooked = Looked & { after: DoctorCheck[]; serves: boolean | null };

async function lookIntoLedger({ config }: Explained, reference: string | undefined): Promise<LedgerLooked> {
  const ledger = await import('./doctor-ledger.ts');
  const { checkRefusal, examine } = await import('./doctor-signature.ts');
  const { daemonStanding, sceneOf } = await import('../../json/jobs-standing.ts');
  const { findServing } = await import('../../../core/runtime/serve-lock.ts');
  const serves = findServing(config.dataDir);
  let app: App<'local'> | undefined;
  try {
    const absent = await ledger.checkAbsentLedger(config);
    if (absent && reference !== undefined) throw new Stop(`no payout "${reference}": ${absent.detail}`);
    if (absent)
      return { checks: [absent, skipped('schedules', 'there is no ledger yet')], after: [], serves };
    const opened = await openApp('local', { config, access: 'reads' });
    app = opened;
    const daemon = await daemonStanding(opened);
    const scene = await sceneOf(opened, 'doctor', daemon);
    const { checkAlerts, checkEvents } = await import('./doctor-alerts.ts');
    const checks = [
      ...(await ledger.checkLedger(opened, scene)),
      await ledger.checkGrowth(opened),
      ...(await guarded('backups', () => ledger.checkBackups(opened))),
      await ledger.checkIntake(opened),
      await ledger.checkSchedules(opened, daemon, scene),
      await checkAlerts(opened),
      await checkEvents(opened),
    ];
    const examined = await examine(opened, reference);
    const { running, elsewhere = false } = daemon;
    const after = examined ? [checkRefusal(examined, config.mode)] : [];
    return { checks, after, examined, serves: running || elsewhere, findings: await findAll(scene) };
  } catch (error) {
    if (error instanceof Stop) throw error;
    const checks = [
      ledger.describeUnopened(config, error),
      skipped('schedules', 'the ledger cannot be opened'),
    ];
    return { checks, after: [], serves };
  } finally {
    await app?.close();
  }
}

function describe(
  {
    columns,
    paint,
    time,
    findings = [],
  }: Pick<Context, 'columns' | 'paint'> & Pick<Looked, 'findings'> & { time: (instant: string) => string },
  checks: readonly DoctorCheck[],
  more: readonly string[],
  signature?: SignatureJson,
): Result {
  const failed = checks.filter(({ ok }) => ok === false);
  const unseen = checks.filter(({ ok }) => ok === null);
  const ok = failed.length === 0;
  const width = Math.max(...checks.map(({ name }) => name.length));
  const under = width + 9;
  // What no check is about.
  const waits = findings?.filter((one) => !isShown(one, 'doctor')).length ?? null;
  return {
    code: ok ? 0 : 1,
    lines: [
      ...checks.flatMap((check) => [
        ...wrap(
          `${labelOf(check, paint)} ${check.name.padEnd(width)}  ${readable(check.detail, time)}`,
          columns,
          under,
        ),
        ...(check.fix === null
          ? []
          : wrap(`${' '.repeat(under)}fix: ${readable(check.fix, time)}`, columns, 5)),
      ]),
      ...more,
      '',
      ok
        ? wellText(unseen, waits)
        : `${failed.length} of ${checks.length} failed: ${failed.map(({ name }) => name).join(', ')}`,
    ],
    json: {
      shape: 'doctor',
      fields: { ok, checks, findings: (findings ?? []).map(findingJson), ...(signature && { signature }) },
    },
  };
}

function labelOf({ ok }: DoctorCheck, paint: Paint): string {
  if (ok === null) return paint('faint', 'skip  ');
  return ok ? paint('good', 'ok    ') : paint('bad', 'FAILED');
}

/** What `status` says is wrong, or waits for a person. */
async function findAll(scene: Scene): Promise<readonly Finding[] | null> {
  try {
    return await findOn({ ...scene, face: 'status' });
  } catch {
    return null;
  }
}

/** The last line where no check failed. Says that all is well only where nothing waits for a person either. */
export function wellText(unseen: readonly Pick<DoctorCheck, 'name'>[], waits: number | null): string {
  const skips = `skipped: ${unseen.map(({ name }) => name).join(', ')}`;
  if (waits === 0) return unseen.length === 0 ? 'all is well' : `what was looked at is well; ${skips}`;
  const open =
    waits === null
      ? 'what waits for a person could not be read'
      : `${counted(waits, 'thing')} ${waits === 1 ? 'waits' : 'wait'} for a person: counterfoil status`;
  return `no check failed; ${unseen.length === 0 ? '' : `${skips}; `}${open}`;
}
