import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { App } from '../../app/app.ts';
import type { Finding } from '../../findings/finding.ts';
import type { Person } from '../../verbs/verb.ts';
import type { ReaderSight } from '../../words/hold-words.ts';
import type { Operation } from './operation.ts';

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
  /** What the person may see: names and accounts of payees need the role `read`. */
  sight: ReaderSight;
  request: FastifyRequest;
  reply: FastifyReply;
};

type Parsed<Shape> = Shape extends z.ZodType ? z.infer<Shape> : undefined;

/** What an operation does with what its schemas parsed. */
export type OperationRun<Op extends Operation> = (
  deps: ApiDeps,
  given: Given<z.infer<Op['params']>, z.infer<Op['query']>, Parsed<Op['body']>>,
) => Promise<Answer>;

/** What each of these operations does. */
export type Runs<Ops extends Record<string, Operation>> = { [Name in keyof Ops]: OperationRun<Ops[Name]> };
