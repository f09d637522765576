import type { Clock } from '../core/runtime/clock.ts';
import { errorText, logEvent } from '../core/runtime/log-events.ts';
import type { Logger } from '../core/runtime/logger.ts';
import type { Config } from '../core/settings/settings.ts';
import { isOutage } from '../core/storage/failure.ts';
import { hasRight } from '../faces/admin/access.ts';
import { createAdminServer } from '../faces/admin/admin-server.ts';
import { healthRoutes, type UnreadyFinding } from '../faces/admin/health.ts';
import { unreadyOf } from '../faces/admin/readiness.ts';
import { apiBase } from '../faces/api/operation.ts';
import { problemOf, problemType } from '../faces/api/problem.ts';
import { barePage } from '../faces/web/dashboard/bare-page.ts';
import { pageHeaders } from '../faces/web/dashboard/frame.ts';
import { sentence } from '../faces/web/dashboard/parts.ts';
import { isBrowser } from '../faces/web/dashboard/sign-in.ts';
import { lookAgainSeconds } from '../faces/web/dashboard/wait-script.ts';
import { html } from '../faces/web/kit/html.ts';
import { plainFinding } from '../findings/finding.ts';
import { upperFirst } from '../words/results/obstacle-words.ts';

/** A daemon stopped because the ledger's database was away; another one may go on in this process. */
export class DatabaseAway extends Error {}

const firstPauseMs = 1000;
const longestPauseMs = 10_000;
/** After a run of this length the pauses begin small again. */
const longRunMs = 60_000;

type Deps = {
  config: Config;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Throws while the ledger's database cannot be used. */
  probe(): Promise<void>;
  /** Called each time that the wait begins and `/readyz` says so. */
  onWaiting(): void;
};

/**
 * Runs `serve` again after each outage of the ledger's database, however long. Each run opens everything again: its
 * worker is a new one, so that what the one before had claimed becomes unknown (P3, P12). Meanwhile nothing is sent, `/healthz`
 * answers and `/readyz` names the outage. Undefined: the signal ended the wait.
 */
export async function throughOutages<T>(deps: Deps, run: () => Promise<T>): Promise<T | undefined> {
  const { clock, signal } = deps;
  let pauseMs = firstPauseMs;
  for (;;) {
    const began = clock.monotonic();
    try {
      return await run();
    } catch (error) {
      if (!isOutage(error) && !(error instanceof DatabaseAway)) throw error;
      if (clock.monotonic() - began > longRunMs) pauseMs = firstPauseMs;
      pauseMs = await untilBack(deps, errorText(error), pauseMs);
    }
    if (signal.aborted) return undefined;
  }
}

/** Waits until the database can be used. Returns the next pause. */
async function untilBack(deps: Deps, why: string, pauseMs: number): Promise<number> {
  const { config, clock, log, signal, probe, onWaiting } = deps;
  const text = `the ledger's database is away (${why}): nothing is sent until it is back. Nothing is lost`;
  logEvent(log, 'ledger_away', { why, text });
  const outage = unreadyOf({ ...plainFinding('ledger_away'), since: clock.iso(), facts: { why } });
  const server = config.admin.enabled ? waitingServer(deps, outage) : null;
  await server
    ?.listen()
    .catch((error: unknown) => log.error({ err: error }, 'the admin server cannot listen'));
  onWaiting();
  let pause = pauseMs;
  for (let isBack = false; !isBack && !signal.aborted; ) {
    await clock.sleep(pause, signal);
    pause = Math.min(pause * 2, longestPauseMs);
    isBack = await probe().then(
      () => {
        logEvent(log, 'ledger_back', { text: "the ledger's database is back: serve goes on" });
        return true;
      },
      // Anything else is no outage: the next run says what it is.
      (error: unknown) => !isOutage(error),
    );
  }
  await server?.close();
  return pause;
}

/** What answers while there is no ledger: health, and to all else that it cannot be answered now, also to a posted file. */
function waitingServer({ config, clock, log }: Deps, outage: UnreadyFinding) {
  const { problem, fix } = outage;
  const zone = config.reports.timezone;
  const answer = { kind: 'ledger_away', problem, fix: `${fix}; then repeat the request` };
  return createAdminServer({
    config,
    clock,
    log,
    routes: [
      healthRoutes(async () => [outage]),
      (server, admin) => {
        // No body is read, so that none is of a wrong type or too large: that would be no passing answer.
        server.removeAllContentTypeParsers();
        server.addContentTypeParser('*', (_request, _body, done) => done(null));
        // For anyone: a browser lost its session with the daemon before, and nothing of the ledger can be shown.
        server.all('/*', { config: { right: 'none' } }, async (request, reply) => {
          if (!isBrowser(request)) admin.requireRight(request, 'figures');
          reply.code(503).header('retry-after', lookAgainSeconds).header('connection', 'close');
          if (request.url.startsWith(apiBase))
            return reply.type(problemType).send(JSON.stringify(problemOf(503, answer)));
          if (!isBrowser(request)) return reply.send({ problem, fix });
          // Where the database is stays with those who may see figures.
          const why = sentence(`${upperFirst(problem)}. ${upperFirst(fix)}.`, { zone, now: clock.iso() });
          const said = hasRight(request.caller, 'figures') && html`<p>${why}</p>`;
          const content = html`${said}<p>This machine sends nothing until it is back.</p>`;
          const title = 'The ledger’s database is away';
          const page = barePage({ mode: config.mode, title, content, renews: request.method === 'GET' });
          return reply.headers(pageHeaders).send(page);
        });
      },
    ],
  });
}
