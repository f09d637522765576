import type { FastifyReply, FastifyRequest } from 'fastify';
import { onDesk } from '../../../words/desk-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { RefusedRequest } from '../../admin/access.ts';
import type { Routes } from '../../admin/admin-server.ts';
import { passingCause } from '../../admin/passing-cause.ts';
import { RefusedUpload } from '../../admin/uploads.ts';
import { type Html, html } from '../kit/html.ts';
import { createActions, Declined } from './actions.ts';
import { barePage } from './bare-page.ts';
import { discrepancyRoutes } from './discrepancy-routes.ts';
import { createEvents } from './events.ts';
import { createDrops } from './files/drops.ts';
import { fileRoutes } from './files/file-routes.ts';
import { createForms } from './forms.ts';
import { pageHeaders, pageOf, type View } from './frame.ts';
import { createLooks } from './look.ts';
import { monthRoutes } from './month-routes.ts';
import { pageRoutes } from './page-routes.ts';
import { dashboardBanner } from './parts.ts';
import { payeeRoutes } from './payee-routes.ts';
import { payoutDecisions } from './payout-decisions.ts';
import { postRoutes } from './post-routes.ts';
import { runRoutes } from './run-routes.ts';
import type { DashboardDeps, Shared } from './shared.ts';
import { isBrowser, signInForm, signInRoutes } from './sign-in.ts';
import { lookAgainSeconds } from './wait-script.ts';
import { createWays } from './ways.ts';

/** The dashboard (docs/desk.md): pages for people, and the forms with which they decide. */
export function dashboardRoutes(deps: DashboardDeps): Routes {
  const { config, clock, log } = deps;
  return (server, admin) => {
    const drops = createDrops(deps.desk.app, admin.closing);
    const looks = createLooks({
      ...deps,
      findDrops: async () => (await drops.list()).drops,
      zone: config.reports.timezone,
      birth: deps.ledger.birth,
      payZone: config.submission.timezone,
    });
    const forms = createForms(clock);
    const ways = createWays(admin);
    const onFailed = (err: unknown): void => log.warn({ err }, 'the dashboard could not look at the ledger');
    const events = createEvents({ looks, clock, closing: admin.closing, onFailed });
    const viewFor = async ({ caller }: FastifyRequest): Promise<View> => ({
      mode: config.mode,
      zone: config.reports.timezone,
      banks: config.banks,
      now: clock.iso(),
      caller,
      mayOpen: (address) => ways.isOpen(caller, address),
      holders: admin.holders,
      version: (await looks.look()).version,
      formToken: forms.tokenFor(caller),
    });
    const send: Shared['send'] = async (request, reply, page, status = 200) =>
      reply
        .code(status)
        .headers(pageHeaders)
        .send(pageOf(page, await viewFor(request)));
    const requireToken: Shared['requireToken'] = (request) => {
      if (request.caller.kind !== 'token') admin.requireRight(request, 'read');
    };
    const actions = createActions({ ...deps, account: deps.source.account });
    const shared: Shared = { deps, looks, forms, actions, drops, send, viewFor, requireToken };
    server.register(async (scope) => {
      scope.addHook('onRoute', (route) => ways.note(route));
      // A browser posts forms as this and nothing else; whatever else is sent finds no parser.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        'application/x-www-form-urlencoded',
        { parseAs: 'string' },
        async (_request: FastifyRequest, body: string | Buffer) => new URLSearchParams(String(body)),
      );
      scope.setErrorHandler(async (error, request, reply) =>
        sendProblem(shared, error, request, reply, admin.closing),
      );
      pageRoutes(scope, shared);
      payeeRoutes(scope, shared);
      runRoutes(scope, shared);
      discrepancyRoutes(scope, shared);
      monthRoutes(scope, shared);
      postRoutes(scope, shared);
      signInRoutes(scope, shared, admin);
      payoutDecisions(scope, shared, admin.closing);
      fileRoutes(scope, shared, admin);
      // A browser is shown the ways that there are; a program gets the answer that every address without a page has.
      scope.get('/*', async (request, reply) => {
        if (!isBrowser(request)) return reply.callNotFound();
        throw new Declined(404, 'There is no such page.');
      });
      scope.get('/events', async (_request, reply) => {
        reply.hijack();
        if (events.open(reply.raw, { 'x-content-type-options': 'nosniff' })) return;
        reply.raw.writeHead(503, { 'retry-after': '30' }).end();
      });
    });
  };
}

/** A refusal as a page, with what helps. A browser gets the form of the sign-in page; a program is asked for its token. */
async function sendProblem(
  { send, deps }: Shared,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
): Promise<FastifyReply> {
  const passing = passingCause(error, closing.aborted && !(error instanceof Declined));
  if (passing) return sendPassing(deps, passing.problem, request, reply);
  const { status, title, help } = problemOf(error);
  if (status === 500) deps.log.error({ err: error }, 'the dashboard could not answer');
  const asksBrowser = status === 401 && isBrowser(request);
  if (status === 401 && !asksBrowser)
    reply.header('www-authenticate', 'Basic realm="counterfoil", charset="UTF-8"');
  if (error instanceof RefusedRequest && error.retryAfterSeconds !== null)
    reply.header('retry-after', String(error.retryAfterSeconds));
  // A refusal may come before the caller is known.
  request.caller ??= { kind: 'nobody' };
  const toToday = html`<p><a href="/">Back to today</a></p>`;
  const back = request.method === 'GET' ? request.url : '/';
  const main = asksBrowser
    ? html`<h1>Sign in</h1>${dashboardBanner('warn', title, toToday)}${signInForm(back)}`
    : dashboardBanner('bad', title, html`<p>${help}</p>${toForm(request)}${toToday}`);
  try {
    return await send(request, reply, { title, main, renews: 'still' }, status);
  } catch (err) {
    const cause = passingCause(err, closing.aborted);
    if (cause) return sendPassing(deps, cause.problem, request, reply);
    deps.log.error({ err }, 'the dashboard could not answer');
    const content = html`<p>The operator finds the cause in the log of serve.</p>`;
    const page = { mode: deps.config.mode, title: 'The ledger cannot be read', content, renews: false };
    return reply.code(500).headers(pageHeaders).send(barePage(page));
  }
}

/** The way back to the form that was refused, on the page of this desk that had it. */
function toForm({ method, headers, body, host }: FastifyRequest): Html | false {
  const from = method === 'POST' && URL.parse(headers.referer ?? '');
  if (!from || from.host !== host) return false;
  const id = body instanceof URLSearchParams ? body.get('id') : null;
  const place = id === null ? '' : `#${encodeURIComponent(id)}`;
  return html`<p><a href="${from.pathname.replace(/^\/+/, '/')}${from.search}${place}">Back to ${id === null ? 'the form' : id}</a></p>`;
}

/** A failure that ends by itself: a browser gets a page that needs nothing of the ledger, a program JSON. */
function sendPassing(
  { config, log }: Shared['deps'],
  problem: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  log.warn({ problem }, 'the dashboard cannot answer now');
  reply.code(503).header('retry-after', String(lookAgainSeconds));
  const why = 'what was recorded stands, and nothing is done twice';
  if (!isBrowser(request)) return reply.send({ problem, fix: `look again in a moment: ${why}` });
  const renews = request.method === 'GET';
  const next = renews ? 'This page looks again by itself' : 'Look again in a moment';
  const page = { title: upperFirst(problem), content: html`<p>${next}. ${upperFirst(why)}.</p>` };
  return reply.headers(pageHeaders).send(barePage({ ...page, mode: config.mode, renews }));
}

function problemOf(error: unknown): { status: number; title: string; help: string } {
  if (error instanceof RefusedRequest || error instanceof RefusedUpload)
    return { status: error.statusCode, title: upperFirst(error.message), help: `${upperFirst(error.fix)}.` };
  if (error instanceof Declined)
    return {
      status: error.statusCode,
      title: error.statusCode === 404 ? 'Not found' : 'Nothing was done',
      help: onDesk(error.message),
    };
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500;
  if (status < 500)
    return { status, title: 'The request could not be read', help: 'Use the forms of these pages.' };
  return {
    status: 500,
    title: 'Something went wrong',
    help: 'The operator finds the error in the log of serve.',
  };
}
