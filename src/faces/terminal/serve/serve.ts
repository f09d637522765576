import type { App } from '../../../app/app.ts';
import { openLog } from '../../../app/log.ts';
import { legible } from '../../../core/domain/hidden.ts';
import { systemClock } from '../../../core/runtime/clock.ts';
import { type HangUps, listenForHangUps } from '../../../core/runtime/hang-ups.ts';
import { errorText, logEvent } from '../../../core/runtime/log-events.ts';
import type { Logger } from '../../../core/runtime/logger.ts';
import { plainLine } from '../../../core/runtime/plain-log.ts';
import { queueKind } from '../../../core/runtime/queue-open.ts';
import { takeServeLock } from '../../../core/runtime/serve-lock.ts';
import { createServiceManager, type ServiceManager } from '../../../core/runtime/service-manager.ts';
import { liveAllowedForServe } from '../../../core/settings/environment.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { JsonOf } from '../../../core/shapes/json-shapes.ts';
import { probeDatabase } from '../../../core/storage/exists.ts';
import { CannotListen, createDaemon } from '../../../daemon/daemon.ts';
import { DatabaseAway, throughOutages } from '../../../daemon/through-outages.ts';
import { TlsProblem } from '../../../watching/webhooks/tls.ts';
import { haltInWords } from '../../../words/halt-words.ts';
import { confirmSending, loadSettings } from '../context/context.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { terminalOf } from '../kit/terminal.ts';
import { listenProblem } from './listen-problem.ts';
import { type ReadAgain, readSettingsAgain } from './read-again.ts';

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
    const hangUps = listenForHangUps();
    // On a terminal SIGHUP says that the session closed. It never stops a service.
    const reloads = manager !== null || !context.terminal;
    const closed = new AbortController();
    if (!reloads) void hangUps.next().then(() => closed.abort());
    const own = { ...context, signal: AbortSignal.any([context.signal, closed.signal]) };
    try {
      return await serveThroughReloads(config, {
        context: own,
        need,
        log,
        format,
        manager,
        hangUps,
        reloads,
      });
    } finally {
      hangUps.close();
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
  need: { level: 'whole'; use: 'makes'; kind: 'serve' };
  log: Logger;
  format: LogFormat;
  manager: ServiceManager | null;
  hangUps: HangUps;
  reloads: boolean;
};

type Changed = Extract<ReadAgain, { kind: 'changed' }>;

/**
 * Serves until the end. A reload with other settings ends one daemon and begins the next in this process, as a new
 * worker: so nothing is asked with one key and judged as if with another (P31). Settings with which no daemon can begin
 * are given up for those before.
 */
async function serveThroughReloads(config: Config, run: Run): Promise<Result> {
  const { context, need, log, manager } = run;
  let current = config;
  let before: Config | null = null;
  for (let isFirst = true; ; isFirst = false) {
    const deps = {
      config: current,
      clock: systemClock(),
      log,
      signal: context.signal,
      probe: () => probeDatabase(current.ledgerPlace),
      // systemd starts what waits for the database no second time.
      onWaiting: () => manager?.ready(),
    };
    let isServing = false;
    const onReady = (): void => {
      isServing = true;
      before = null;
    };
    const begin = { config: current, isFirst, onReady };
    try {
      const ended = await throughOutages(deps, () =>
        withApp(context, { ...need, config: current }, (app) => serveOnce(app, run, begin)),
      );
      if (ended?.kind !== 'changed') return ended?.result ?? { code: 0, ignoresInterrupt: true };
      before = current;
      current = ended.config;
    } catch (error) {
      if (isServing || before === null) throw error;
      sayRefused(log, errorText(error));
      current = before;
      before = null;
    }
  }
}

type Ended = { kind: 'ended'; result: Result } | Changed;
type Begin = { config: Config; isFirst: boolean; onReady(): void };

/**
 * Serves until a signal comes, the daemon fails, or a reload has other settings. Throws {@link DatabaseAway} where a new
 * run may go on.
 */
async function serveOnce(app: App, run: Run, { config, isFirst, onReady }: Begin): Promise<Ended> {
  const { context, format, manager } = run;
  const daemon = createDaemon(app);
  const { url, admin } = await daemon.start().catch((error: unknown) => {
    throw startProblem(error, config) ?? error;
  });
  onReady();
  manager?.ready();
  await sayReady(app, run, { config, isFirst, receiver: url, admin }).catch(async (error: unknown) => {
    await daemon.stop();
    throw error;
  });
  const changed = await untilOver(app, run, config, daemon);
  const ending = context.signal.aborted;
  if (ending) manager?.stopping();
  const problem = await daemon.stop();
  if (problem?.goesOn && !ending) throw new DatabaseAway(problem.why);
  if (changed && !problem && !context.signal.aborted) return changed;
  manager?.stopping();
  if (format === 'json') logEnd(app.log, problem?.why);
  return {
    kind: 'ended',
    result: problem
      ? { code: 1, problem: problem.why, ignoresInterrupt: true }
      : { code: 0, ignoresInterrupt: true },
  };
}

/** Resolves when the daemon must stop; with the new settings where a reload found some. */
async function untilOver(
  app: App,
  { context, manager, hangUps, reloads }: Run,
  config: Config,
  daemon: ReturnType<typeof createDaemon>,
): Promise<Changed | null> {
  const stopped = new Promise<null>((resolve) => {
    if (context.signal.aborted) resolve(null);
    context.signal.addEventListener('abort', () => resolve(null), { once: true });
    void daemon.failed.then(() => resolve(null));
  });
  for (;;) {
    const isOver = await (reloads ? Promise.race([stopped, hangUps.next()]) : stopped);
    if (isOver === null) return null;
    manager?.reloading();
    const found = await Promise.race([stopped, readSettingsAgain(context, config)]);
    if (found === null) return null;
    switch (found.kind) {
      case 'changed':
        logEvent(app.log, 'reloaded', { changed: found.changed, text: reloadedText(found) });
        return found;
      case 'refused':
        sayRefused(app.log, found.why);
        break;
      case 'same':
        logEvent(app.log, 'reloaded', {
          changed: [],
          text: 'read again: no setting, key or token has changed. Certificates are renewed if they have',
        });
    }
    await daemon.reload();
    manager?.ready();
  }
}

function reloadedText({ changed }: Changed): string {
  return `read again, and serve goes on with what changed: ${changed.join(', ')}`;
}

function sayRefused(log: Logger, why: string): void {
  const text = `the reload is refused, and serve goes on with the settings and keys that it has: ${why}`;
  logEvent(log, 'reload_refused', { why, text });
}

async function sayReady(
  app: App,
  run: Run,
  begun: Omit<Begin, 'onReady'> & { receiver: string | null; admin: string | null },
): Promise<void> {
  const { context, format } = run;
  const { config, isFirst, receiver, admin } = begun;
  const halted = await haltInWords(app.ledger.db);
  const ready: JsonOf<'serve'> = {
    ready: true,
    mode: config.mode,
    receiver,
    admin,
    halted: halted ? { cause: halted.cause, at: halted.at } : null,
  };
  if (context.options.json && isFirst) context.print(JSON.stringify({ schema: 1, ...ready }));
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
