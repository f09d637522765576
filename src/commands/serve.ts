import { CannotListen, createDaemon } from '../daemon/daemon.ts';
import { legible } from '../domain/hidden.ts';
import { haltInWords } from '../reporting/halt-words.ts';
import { logEvent } from '../runtime/log-events.ts';
import type { Logger } from '../runtime/logger.ts';
import { plainLine } from '../runtime/plain-log.ts';
import { queueKind } from '../runtime/queue-open.ts';
import { takeServeLock } from '../runtime/serve-lock.ts';
import { createServiceManager } from '../runtime/service-manager.ts';
import { liveAllowedForServe } from '../settings/environment.ts';
import type { Config } from '../settings/settings.ts';
import { TlsProblem } from '../webhooks/tls.ts';
import { confirmSending, loadSettings } from './context.ts';
import { listenProblem } from './listen-problem.ts';
import { Stop } from './result.ts';
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
    return await withApp(context, need, async (app) => {
      const daemon = createDaemon(app);
      const { url, admin } = await daemon.start().catch((error: unknown) => {
        throw startProblem(error, config) ?? error;
      });
      const manager = createServiceManager(context.env, app.log);
      const hungUp = Promise.withResolvers<void>();
      // SIGHUP reloads the certificate, and never stops a service of systemd. Else it stops serve when a terminal
      // closes, or when there is no certificate.
      const hasCertificate = (config.receiver.tlsCert || config.admin.tlsCert) !== '';
      const reloads = manager !== null || (hasCertificate && !context.terminal);
      const reload = async (): Promise<void> => {
        manager?.reloading();
        await daemon.reload();
        manager?.ready();
      };
      const onHangUp = (): void => (reloads ? void reload() : hungUp.resolve());
      process.on('SIGHUP', onHangUp);
      manager?.ready();
      const halted = await haltInWords(app.ledger.db);
      if (context.options.json)
        context.print(
          JSON.stringify({
            schema: 1,
            ready: true,
            mode: config.mode,
            receiver: url,
            admin,
            halted: halted ? { cause: halted.cause, at: halted.at } : null,
          }),
        );
      const serving = `serving mode ${config.mode}; webhooks at ${url ?? 'nowhere (receiver.enabled: false)'}; admin at ${admin ?? 'nowhere (admin.enabled: false)'}`;
      if (format === 'plain') context.say(`${serving}; stop with Ctrl-C`);
      else {
        const { configFile: configuration, service } = config;
        const fields = { configuration, service: service.baseUrl, receiver: url, admin };
        logEvent(app.log, 'started', { ...fields, text: serving });
      }
      await new Promise<void>((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener('abort', () => resolve(), { once: true });
        void hungUp.promise.then(resolve);
        daemon.failed.then(
          () => resolve(),
          () => resolve(),
        );
      });
      manager?.stopping();
      const problem = await daemon.stop();
      if (format === 'json') logEnd(app.log, problem);
      await manager?.close();
      process.off('SIGHUP', onHangUp);
      return problem ? { code: 1, problem, ignoresInterrupt: true } : { code: 0, ignoresInterrupt: true };
    });
  } finally {
    lock.release();
    // A queue driver that still waits for its server would keep the finished process alive.
    if (shared) setTimeout(() => process.exit(), lingerMs).unref();
  }
};

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
