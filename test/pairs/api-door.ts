import { type FastifyInstance, fastify } from 'fastify';
import { z } from 'zod';
import type { App } from '../../src/app/app.ts';
import { apiRoutes } from '../../src/faces/api/api.ts';
import type { Operation } from '../../src/faces/api/operation.ts';
import { type Operations, operations } from '../../src/faces/api/operations.ts';
import { findOn } from '../../src/findings/finders.ts';
import type { World } from '../simulation/world.ts';

export type OperationName = keyof Operations;

export type Request = {
  /** Who holds the token. */
  by: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** JSON, or the bytes of a file. */
  body?: object | string;
  /** The Idempotency-Key. */
  key?: string;
};
export type Said = { status: number; isDone: boolean; body: Record<string, unknown> };

const saidShape = z.record(z.string(), z.unknown());
const problemShape = z.looseObject({ problem: z.string().min(1), fix: z.string().min(1) });

/** The API of one process, asked without a network: what it answers is what its description says, or a fault. */
export function openDoor(app: App, world: World) {
  const closing = new AbortController();
  const begun: Promise<unknown>[] = [];
  let made: Promise<FastifyInstance> | undefined;

  async function make(): Promise<FastifyInstance> {
    const server = fastify();
    server.decorateRequest('caller');
    server.addHook('onRequest', async (request) => {
      const { 'x-person': name } = request.headers;
      request.caller = { kind: 'token', name: String(name), roles: [], signedIn: false };
    });
    const none = (): never => {
      throw new Error('the guard of the admin server is not here');
    };
    const { ledger, clock, config, account } = app;
    const known = { db: ledger.db, ledger, clock, config, account, jobs: [] };
    const findWaiting = () => findOn({ face: 'today', ...known, work: 'serve' });
    apiRoutes({ app, findWaiting, background: (work) => void begun.push(work) })(server, {
      ...{ requireRight: none, holders: () => [], nameOf: none, signIn: none, signOut: none },
      closing: closing.signal,
    });
    await server.ready();
    return server;
  }

  /** Waits for what its answers left running. */
  const ended = async (): Promise<void> => void (await Promise.all(begun));

  return {
    ended,
    async ask(name: OperationName, request: Request): Promise<Said> {
      const { method, path } = operations[name];
      const { by, params = {}, query = {}, body, key } = request;
      const isFile = typeof body === 'string';
      made ??= make();
      const server = await made;
      const reply = await server.inject({
        method: method === 'get' ? 'GET' : 'POST',
        url: `/api/v1${path.replace(/\{(\w+)\}/g, (_all, one: string) => encodeURIComponent(params[one] ?? ''))}`,
        query,
        headers: {
          'x-person': by,
          ...(body !== undefined && { 'content-type': isFile ? 'text/csv' : 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { payload: body }),
      });
      const { statusCode: status } = reply;
      const wrong = wrongIn(name, status, reply.body);
      if (wrong !== null)
        world.violate('an endpoint answers as it is described', `${name}: ${status}: ${wrong}`);
      const isJson = String(reply.headers['content-type']).includes('json');
      return { status, isDone: status < 300, body: isJson ? saidShape.parse(JSON.parse(reply.body)) : {} };
    },
    async close(): Promise<void> {
      await ended();
      closing.abort();
      await (await made)?.close();
    },
  };
}

/** What the description does not say of an answer; null: nothing. */
function wrongIn(name: OperationName, status: number, body: string): string | null {
  const { answers }: Operation = operations[name];
  if (status >= 500) return body;
  if (status >= 400) return problemShape.safeParse(JSON.parse(body)).success ? null : body;
  const described = answers[status];
  if (!described) return 'no such answer is described';
  if (!described.shape) return null;
  const { schema, ...rest } = saidShape.parse(JSON.parse(body));
  const parsed = described.shape.safeParse(name === 'getOpenApi' ? { schema, ...rest } : rest);
  return parsed.success ? null : parsed.error.message;
}
