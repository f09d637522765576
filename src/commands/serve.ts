import { CannotListen, createDaemon } from '../daemon/daemon.ts';
import { legible } from '../domain/hidden.ts';
import { plainLine } from '../runtime/plain-log.ts';
import { queueKind } from '../runtime/queue-open.ts';
import { takeServeLock } from '../runtime/serve-lock.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { liveAllowedForServe } from '../settings/environment.ts';
import type { Config } from '../settings/settings.ts';
import { TlsProblem } from '../webhooks/tls.ts';
import { confirmSending, loadSettings } from './context.ts';
import { haltText } from './describe.ts';
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
      2,
      'the configuration says mode: live; set COUNTERFOIL_LIVE=yes to let the daemon send real money',
    );
  }
  await confirmSending({ ...context, options: { ...context.options, yes: true } }, config, true);
  const shared = queueKind(config.queue.url) !== 'inline';
  const lock = takeServeLock(config.dataDir, shared);
  if (!lock)
    throw new Stop(
      11,
      `another serve runs on ${config.dataDir}: stop it first (several can share a ledger when queue.url names a Redis or a PostgreSQL)`,
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
      const hungUp = Promise.withResolvers<void>();
      // SIGHUP reloads the certificate. It stops serve when a terminal closes, or when there is no certificate.
      const reloads = (config.receiver.tlsCert || config.admin.tlsCert) !== '' && !context.terminal;
      const onHangUp = (): void => (reloads ? void daemon.reload() : hungUp.resolve());
      process.on('SIGHUP', onHangUp);
      const halted = await findHalt(app.ledger.db);
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
      else
        context.say(
          `serving mode ${config.mode}; webhooks at ${url ?? 'nowhere (receiver.enabled: false)'}; admin at ${admin ?? 'nowhere (admin.enabled: false)'}; stop with Ctrl-C`,
        );
      const terminal = terminalOf(context, app.config, app.clock.iso());
      if (halted) context.say(`Nothing is sent: sending is halted ${haltText(halted, terminal)}`);
      await new Promise<void>((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener('abort', () => resolve(), { once: true });
        void hungUp.promise.then(resolve);
        daemon.failed.then(
          () => resolve(),
          () => resolve(),
        );
      });
      const problem = await daemon.stop();
      process.off('SIGHUP', onHangUp);
      return problem ? { code: 1, problem, ignoresInterrupt: true } : { code: 0, ignoresInterrupt: true };
    });
  } finally {
    lock.release();
    // A queue driver that still waits for its server would keep the finished process alive.
    if (shared) setTimeout(() => process.exit(), lingerMs).unref();
  }
};

type LogFormat = 'plain' | 'json';

/** `--log-format`; without it plain lines for a person at a terminal, and JSON for a program. */
function readFormat(
  { options: { json }, terminal }: Context,
  { logFormat }: Record<string, unknown>,
): LogFormat {
  if (logFormat === undefined) return terminal && !json ? 'plain' : 'json';
  if (logFormat === 'plain' || logFormat === 'json') return logFormat;
  throw new Stop(2, `--log-format: expected plain or json, got ${JSON.stringify(logFormat)}`);
}

/** Why a server of the daemon cannot listen, and what helps; null for an error that is about something else. */
function startProblem(error: unknown, config: Config): Stop | null {
  if (!(error instanceof CannotListen)) return null;
  const { server, cause } = error;
  if (cause instanceof TlsProblem) return new Stop(2, cause.message);
  const { host, port } = config[server];
  const what = server === 'receiver' ? 'the receiver' : 'the admin server';
  const problem = listenProblem(cause, { what, host, port, setting: `${server}.port` });
  return problem === null ? null : new Stop(1, problem);
}
