import type { App } from '../app/app.ts';
import { openLog } from '../app/log.ts';
import { CannotListen, createDaemon } from '../daemon/daemon.ts';
import { DatabaseAway, throughOutages } from '../daemon/through-outages.ts';
import { legible } from '../domain/hidden.ts';
import { haltInWords } from '../reporting/halt-words.ts';
import { systemClock } from '../runtime/clock.ts';
import { logEvent } from '../runtime/log-events.ts';
import type { Logger } from '../runtime/logger.ts';
import { plainLine } from '../runtime/plain-log.ts';
import { queueKind } from '../runtime/queue-open.ts';
import { takeServeLock } from '../runtime/serve-lock.ts';
import { createServiceManager, type ServiceManager } from '../runtime/service-manager.ts';
import { liveAllowedForServe } from '../settings/environment.ts';
import type { Config } from '../settings/settings.ts';
import { probeDatabase } from '../storage/exists.ts';
import { TlsProblem } from '../webhooks/tls.ts';
import { confirmSending, loadSettings } from './context.ts';
import { listenProblem } from './listen-problem.ts';
import { type Result, Stop } from './result.ts';
import { terminalOf } from './terminal/terminal.ts';
import { withApp } from './with-app.ts';
import type { Context, Handler } from './world.ts';

/** How long a queue driver's open connections may delay the exit. */
const lingerMs = 3000;

/** `serve`: runs schedules, queue workers, the webhook receiver and the admin server until SIGTERM or SIGINT. */
export const serve: Handler = async (context, _args, options) => {
  const format = readFormat(context, options);
  const config = await loadSettings(context);
  if (config.mode === 'live' && !liveAllowedForServe(context.env)) {
    throw new Stop(
      'the configuration says mode: live; set COUNTERFOIL_LIVE=yes to let the daemon send real money',
    );
  }
  // In JSON the event says it.
  const quiet = context.options.quiet || format === 'json';
  await confirmSending({ ...context, options: { ...context.options, yes: true, quiet } }, config, true);
  const shared = queueKind(config.queue.url) !== 'inline';
  const lock = takeServeLock(config.dataDir, shared);
  if (!lock)
    throw new Stop(
      `another serve runs on ${config.dataDir}: stop it first (several can share a ledger when queue.url names a Redis or a PostgreSQL)`,
      11,
    );
  try {
    const renderLog = (line: string): string => {
      const now = new Date().toISOString();
      const { timeWithSeconds } = terminalOf(context, config, now);
      return legible(plainLine(line, (instant) => timeWithSeconds(instant)));
    };
    const need = {
      level: 'whole',
      use: 'makes',
      kind: 'serve',
      ...(format === 'plain' && { renderLog }),
    } as const;
    const log = openLog(config, { quiet: Boolean(context.options.quiet), ...need });
    const manager = createServiceManager(context.env, log);
    // SIGHUP reloads the certificate, and never stops a service of systemd. Else it stops serve when a terminal
    // closes, or when there is no certificate.
    const hasCertificate = (config.receiver.tlsCert || config.admin.tlsCert) !== '';
    const reloads = manager !== null || (hasCertificate && !context.terminal);
    const run = { context, config, format, manager, reloads, isFirst: true };
    const deps = {
      config,
      clock: systemClock(),
      log,
      signal: context.signal,
      probe: () => probeDatabase(config.ledgerPlace),
      // systemd starts what waits for the database no second time.
      onWaiting: () => manager?.ready(),
    };
    const ignore = (): void => undefined;
    // While it waits for the database there is nothing to reload.
    if (reloads) process.on('SIGHUP', ignore);
    try {
      const result = await throughOutages(deps, () => withApp(context, need, (app) => serveOnce(app, run)));
      return result ?? { code: 0, ignoresInterrupt: true };
    } finally {
      process.off('SIGHUP', ignore);
      await manager?.close();
    }
  } finally {
    lock.release();
    // A queue driver that still waits for its server would keep the finished process alive.
    if (shared) setTimeout(() => process.exit(), lingerMs).unref();
  }
};

type Run = {
  context: Context;
  config: Config;
  format: LogFormat;
  manager: ServiceManager | null;
  reloads: boolean;
  /** Until serve was ready once: only then it says so on stdout. */
  isFirst: boolean;
};

/** Serves until a signal comes or the daemon fails. Throws {@link DatabaseAway} where a new run may go on. */
async function serveOnce(app: App, run: Run): Promise<Result> {
  const { context, config, format, manager } = run;
  const daemon = createDaemon(app);
  const { url, admin } = await daemon.start().catch((error: unknown) => {
    throw startProblem(error, config) ?? error;
  });
  const hungUp = Promise.withResolvers<void>();
  const reload = async (): Promise<void> => {
    manager?.reloading();
    await daemon.reload();
    manager?.ready();
  };
  const onHangUp = (): void => (run.reloads ? void reload() : hungUp.resolve());
  process.on('SIGHUP', onHangUp);
  try {
    manager?.ready();
    await sayReady(app, run, { receiver: url, admin }).catch(async (error: unknown) => {
      await daemon.stop();
      throw error;
    });
    await new Promise<void>((resolve) => {
      if (context.signal.aborted) resolve();
      context.signal.addEventListener('abort', () => resolve(), { once: true });
      void hungUp.promise.then(resolve);
      void daemon.failed.then(resolve);
    });
    const ending = context.signal.aborted;
    if (ending) manager?.stopping();
    const problem = await daemon.stop();
    if (problem?.goesOn && !ending) throw new DatabaseAway(problem.why);
    manager?.stopping();
    if (format === 'json') logEnd(app.log, problem?.why);
    return problem
      ? { code: 1, problem: problem.why, ignoresInterrupt: true }
      : { code: 0, ignoresInterrupt: true };
  } finally {
    process.off('SIGHUP', onHangUp);
  }
}

async function sayReady(
  app: App,
  run: Run,
  { receiver, admin }: { receiver: string | null; admin: string | null },
): Promise<void> {
  const { context, config, format } = run;
  const halted = await haltInWords(app.ledger.db);
  if (context.options.json && run.isFirst)
    context.print(
      JSON.stringify({
        schema: 1,
        ready: true,
        mode: config.mode,
        receiver,
        admin,
        halted: halted ? { cause: halted.cause, at: halted.at } : null,
      }),
    );
  run.isFirst = false;
  const serving = `serving mode ${config.mode}; webhooks at ${receiver ?? 'nowhere (receiver.enabled: false)'}; admin at ${admin ?? 'nowhere (admin.enabled: false)'}`;
  if (format === 'plain') return context.say(`${serving}; stop with Ctrl-C`);
  const { configFile: configuration, service } = config;
  const fields = { configuration, service: service.baseUrl, receiver, admin };
  logEvent(app.log, 'started', { ...fields, text: serving });
}

function logEnd(log: Logger, problem: string | undefined): void {
  if (problem === undefined) logEvent(log, 'stopped', { text: 'serve has stopped' });
  else logEvent(log, 'failed', { error: problem, text: 'serve has failed' });
}

type LogFormat = 'plain' | 'json';

/** `--log-format`; without it plain lines for a person at a terminal, and JSON for a program. */
function readFormat(
  { options: { json }, terminal }: Context,
  { logFormat }: Record<string, unknown>,
): LogFormat {
  if (logFormat === undefined) return terminal && !json ? 'plain' : 'json';
  if (logFormat === 'plain' || logFormat === 'json') return logFormat;
  throw new Stop(`--log-format: expected plain or json, got ${JSON.stringify(logFormat)}`);
}

/** Why a server of the daemon cannot listen, and what helps; null for an error that is about something else. */
function startProblem(error: unknown, config: Config): Stop | null {
  if (!(error instanceof CannotListen)) return null;
  const { server, cause } = error;
  if (cause instanceof TlsProblem) return new Stop(cause.message);
  const { host, port } = config[server];
  const what = server === 'receiver' ? 'the receiver' : 'the admin server';
  const problem = listenProblem(cause, { what, host, port, setting: `${server}.port` });
  return problem === null ? null : new Stop(problem, 1);
}
