import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { App } from '../../app/app.ts';
import type { Finding } from '../../findings/finding.ts';
import type { Person } from '../../verbs/verb.ts';
import type { VerbName } from '../../verbs/verbs.ts';
import type { Right } from '../admin/access.ts';

/** What the endpoints need of the daemon. */
export type ApiDeps = {
  app: App;
  /** What is wrong or waits, as this process sees it. */
  findWaiting(): Promise<readonly Finding[]>;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  /** The open streams of events. */
  streams: Set<ServerResponse>;
  /** Work that goes on after its answer; the server waits for it when it closes. */
  background(work: Promise<unknown>): void;
};

export type Answer =
  | { kind: 'json'; status: number; body: object; headers?: Record<string, string> }
  | { kind: 'file'; handle: FileHandle; bytes: number; headers: Record<string, string> }
  /** The endpoint answers by itself, as a stream does. */
  | { kind: 'own' };

export function jsonAnswer(body: object, status = 200): Answer {
  return { kind: 'json', status, body: { schema: 1, ...body } };
}

type Given<Params, Query, Body> = {
  params: Params;
  query: Query;
  body: Body;
  person: Person;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** What an answer holds: JSON, or a file of another type. */
export type Answers = Record<number, { does: string; shape?: z.ZodType; type?: string }>;

/** One path of the API with all that describes it; routes, checks, the OpenAPI document and docs/api.md are made of it. */
export type Endpoint<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject | null = z.ZodObject | null,
> = {
  method: 'get' | 'post';
  /** Below `/api/v1`, with parameters in braces. */
  path: string;
  /** The name of the operation. */
  name: string;
  does: string;
  /** The verb that it orders; a lookup orders none. */
  orders?: VerbName;
  right: Right;
  params: Params;
  query: Query;
  /** Null: no body, or one that is read as a stream. */
  body: Body;
  /** The types of a body that is read as a stream. */
  streams?: readonly string[];
  answers: Answers;
  run(
    deps: ApiDeps,
    given: Given<z.infer<Params>, z.infer<Query>, Body extends z.ZodObject ? z.infer<Body> : undefined>,
  ): Promise<Answer>;
};

/** Checks the type of an endpoint, and forgets what only its own `run` needs. */
export function endpoint<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject | null,
>(one: Endpoint<Params, Query, Body>): Endpoint {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server gives `run` what these schemas parsed
  return one as unknown as Endpoint;
}
