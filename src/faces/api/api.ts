import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import packageJson from '../../../package.json' with { type: 'json' };
import { likely } from '../../core/domain/nearest.ts';
import { hasRight, RefusedRequest } from '../admin/access.ts';
import type { Routes } from '../admin/admin-server.ts';
import { passingCause } from '../admin/passing-cause.ts';
import { RefusedUpload, sweepUploads } from '../admin/uploads.ts';
import { batchEndpoints } from './batch-endpoints.ts';
import type { Answer, ApiDeps, OperationRun, Runs } from './endpoint.ts';
import { eventEndpoints } from './event-endpoints.ts';
import { claimAnswer, dropClaim, keepAnswer, loseClaim, requestDigest } from './kept-answers.sql.ts';
import { openApiOf } from './openapi.ts';
import { apiBase, type Operation } from './operation.ts';
import { type Operations, operations } from './operations.ts';
import { payoutEndpoints } from './payout-endpoints.ts';
import { ApiProblem, problemOf, problemType } from './problem.ts';
import { readStreams, uploadsIn } from './upload.ts';
import { noSuchPath, watchEndpoints } from './watch-endpoints.ts';

/** The API (docs/api.md): verbs and lists for programs, on the admin server. */
export function apiRoutes(given: Omit<ApiDeps, 'closing' | 'streams'>): Routes {
  return (server, admin) => {
    const deps: ApiDeps = { ...given, closing: admin.closing, streams: new Set() };
    const document = openApiOf(operations, packageJson.version);
    const runs: Runs<Operations> = {
      ...batchEndpoints,
      ...payoutEndpoints,
      ...watchEndpoints,
      ...eventEndpoints,
      getOpenApi: async () => ({ kind: 'json', status: 200, body: document }),
    };
    server.register(
      async (scope) => {
        // JSON, and the files of the endpoints that read them: whatever else is sent finds no parser.
        scope.removeContentTypeParser('text/plain');
        const { app } = deps;
        readStreams(scope, app.config.intake.maxBytes);
        scope.setErrorHandler(async (error, _request, reply) => answerProblem(error, reply, deps));
        // A route, since the dashboard answers each address that has none.
        scope.all('/*', { config: { right: 'none' } }, async () => {
          throw noSuchPath();
        });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `route` gives each `run` what its schemas parsed
        const all = runs as unknown as Record<string, OperationRun<Operation>>;
        for (const [name, one] of Object.entries<Operation>(operations))
          if (all[name]) route(scope, { name, ...one, run: all[name] }, deps);
        scope.addHook('onReady', () =>
          sweepUploads(uploadsIn(app.config), app.ledger.db, { nowMs: app.clock.now(), atStart: true }),
        );
      },
      { prefix: apiBase },
    );
  };
}

/** `/runs/{run}/{sheet}.csv` as Fastify has it. */
function pathOf({ path }: Operation): string {
  return path.replace(/\{(\w+)\}\.csv/g, ':$1(^[a-z-]+).csv').replace(/\{(\w+)\}/g, ':$1');
}

/** An operation, with what it does. */
type Endpoint = Operation & { name: string; run: OperationRun<Operation> };

function route(server: FastifyInstance, one: Endpoint, deps: ApiDeps): void {
  server.route({
    method: one.method.toUpperCase(),
    url: pathOf(one),
    config: { right: one.right, token: true, streams: one.streams !== undefined },
    ...(one.streams && { bodyLimit: deps.app.config.intake.maxBytes }),
    // Before a parser sees the body: bytes of a wrong type are named as that, not as a body that is broken.
    async preParsing(request) {
      refuseType(request, one);
    },
    async handler(request, reply) {
      const parsed = {
        params: read(one.params, request.params, 'the path', 404),
        query: readQuery(one, request.query),
        body: one.body === null ? undefined : read(one.body, request.body ?? {}, 'the body'),
      };
      const { caller } = request;
      if (caller.kind !== 'token') throw new Error('a request without a token');
      const { name } = caller;
      const person = { name, accounts: [{ name, uid: null }], noted: name };
      const sight = { names: hasRight(caller, 'read') };
      const work = (): Promise<Answer> => one.run(deps, { ...parsed, person, sight, request, reply });
      const key = request.headers['idempotency-key'];
      const isKeyed = one.method === 'post' && one.body !== null && typeof key === 'string';
      if (!isKeyed) return send(reply, await work());
      if (key === '' || key.length > 200) throw badKey();
      return once(deps, { person: name, key, request: requestDigest([one.name, parsed]) }, reply, work);
    },
  });
}

/** Gives the answer of before to a request that comes again with its Idempotency-Key. */
async function once(
  { app: { ledger, clock, workers } }: ApiDeps,
  given: { person: string; key: string; request: string },
  reply: FastifyReply,
  work: () => Promise<Answer>,
): Promise<FastifyReply> {
  const kept = await claimAnswer(ledger, { ...given, workerId: workers.id, at: clock.iso() });
  if (kept.kind === 'other') throw badKey();
  if (kept.kind === 'busy') throw stillBusy();
  if (kept.kind === 'lost') throw lostAnswer();
  if (kept.kind === 'known')
    return reply
      .code(kept.status)
      .type('application/json; charset=utf-8')
      .header('idempotency-replayed', 'true')
      .send(kept.body);
  const answer = await work().catch(async (error: unknown) => {
    await (error instanceof ApiProblem ? dropClaim : loseClaim)(ledger, given);
    throw error;
  });
  if (answer.kind === 'json')
    await keepAnswer(ledger, { ...given, status: answer.status, body: JSON.stringify(answer.body) });
  return send(reply, answer);
}

async function send(reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'json':
      return reply
        .code(answer.status)
        .headers(answer.headers ?? {})
        .send(answer.body);
    case 'file':
      return reply
        .headers({ ...answer.headers, 'content-length': answer.bytes })
        .send(answer.handle.createReadStream({ autoClose: true, end: Math.max(0, answer.bytes - 1) }));
    case 'own':
      return reply;
  }
}

function read(
  shape: z.ZodObject,
  value: unknown,
  what: string,
  status: 404 | 422 = 422,
): Record<string, unknown> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw new ApiProblem(status, {
    kind: 'request',
    problem: `${what}${place === '' ? '' : `, ${place}`}: ${issue?.message ?? 'not what is expected'}`,
    fix: `GET ${apiBase}/openapi.json describes it`,
  });
}

/** An unknown name, or a name that comes twice in any case, is refused: nothing given is left out in silence. */
function readQuery(one: Operation, query: unknown): Record<string, unknown> {
  const known = Object.keys(one.query.shape);
  const pairs = Object.entries(typeof query === 'object' && query !== null ? query : {});
  const given = pairs.map(([name]) => name);
  const isOpen = one.query.def.catchall !== undefined;
  const wrong = given.find((name) => !known.includes(name) && !(isOpen && /^total\.[A-Za-z]{3}$/.test(name)));
  if (wrong !== undefined) {
    const meant = likely(wrong, known);
    throw new ApiProblem(422, {
      kind: 'request',
      problem: `the query has no ${wrong}`,
      fix: meant === undefined ? `it has ${known.join(', ') || 'nothing'}` : `did you mean ${meant}?`,
    });
  }
  const folded = given.map((name) => name.toLowerCase());
  const twice = pairs.find(
    ([, value], at) => Array.isArray(value) || folded.indexOf(folded[at] ?? '') !== at,
  )?.[0];
  if (twice !== undefined)
    throw new ApiProblem(422, {
      kind: 'request',
      problem: `the query says ${twice} more than once`,
      fix: 'say it once',
    });
  return read(one.query, query, 'the query');
}

/** A body of another type than the endpoint reads: a form that a browser can post anywhere, or a compressed one. */
function refuseType(request: FastifyRequest, { streams, body }: Operation): void {
  const encoding = request.headers['content-encoding'];
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const isRead = streams
    ? type !== undefined && streams.includes(type)
    : type === undefined || type === 'application/json';
  if (request.method === 'GET' || (isRead && encoding === undefined)) return;
  throw new ApiProblem(415, {
    kind: 'type',
    problem:
      encoding === undefined
        ? `a body of ${type ?? 'no type'} is not read here`
        : 'a compressed body is not read',
    fix: `send ${streams?.[0] ?? (body ? 'application/json' : 'no body')}, uncompressed`,
  });
}

function badKey(): ApiProblem {
  return new ApiProblem(422, {
    kind: 'idempotency_key',
    problem: 'the Idempotency-Key belongs to another request, or is none',
    fix: 'send a new key of at most 200 characters for each decision',
  });
}

function stillBusy(): ApiProblem {
  return new ApiProblem(409, {
    kind: 'busy',
    problem: 'the request with this Idempotency-Key is still being worked on',
    fix: 'repeat it in a moment',
    retryAfterSeconds: 2,
  });
}

function lostAnswer(): ApiProblem {
  return new ApiProblem(409, {
    kind: 'lost',
    problem:
      'the work on the request with this Idempotency-Key ended without an answer: it may have been done',
    fix: 'read where it stands, and decide under a new key',
  });
}

async function answerProblem(
  error: unknown,
  reply: FastifyReply,
  { app, closing }: ApiDeps,
): Promise<FastifyReply> {
  const { status, retryAfterSeconds, ...said } = saidOf(error, closing.aborted);
  if (status === 500) app.log.error({ err: error }, 'the API could not answer');
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="counterfoil"');
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds));
  // What was not read of a body would be taken for the next request.
  if ([400, 408, 413, 415].includes(status)) reply.header('connection', 'close');
  return reply
    .code(status)
    .type(problemType)
    .send(JSON.stringify(problemOf(status, said)));
}

const uploadKinds = { 400: 'broken_form', 408: 'too_slow', 413: 'too_large' } as const;

function saidOf(error: unknown, isClosing: boolean) {
  if (error instanceof ApiProblem) {
    const { statusCode: status, kind, message: problem, fix, more, retryAfterSeconds } = error;
    return { status, kind, problem, fix, more, retryAfterSeconds };
  }
  if (error instanceof RefusedRequest) {
    const { statusCode: status, message: problem, fix, retryAfterSeconds } = error;
    return { status, kind: 'refused', problem, fix, retryAfterSeconds };
  }
  if (error instanceof RefusedUpload) {
    const { statusCode: status, message: problem, fix } = error;
    return { status, kind: uploadKinds[status], problem, fix, retryAfterSeconds: null };
  }
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500;
  const passing = status >= 500 ? passingCause(error, isClosing) : null;
  if (passing) {
    const fix = 'repeat the request: what it had recorded stands, and nothing is done twice';
    return { status: 503, ...passing, fix, retryAfterSeconds: 10 };
  }
  if (status >= 500)
    return {
      status: 500,
      kind: 'failed',
      problem: 'it failed',
      fix: 'the log says why',
      retryAfterSeconds: null,
    };
  const problem = status === 413 ? 'the body is too large' : 'the request cannot be read';
  return {
    status,
    kind: 'request',
    problem,
    fix: `GET ${apiBase}/openapi.json describes it`,
    retryAfterSeconds: null,
  };
}
