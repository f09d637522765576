import { z } from 'zod';
import { list, text } from '../../core/shapes/parts.ts';
import type { VerbName } from '../../verbs/verbs.ts';
import type { Right } from '../admin/access.ts';

/** Where the API lies on the admin server. */
export const apiBase = '/api/v1';

/** What an answer holds: JSON, or a file of another type. */
type Answers = Record<number, { does: string; shape?: z.ZodType; type?: string }>;

/** One path of the API as it is described; its checks, the OpenAPI document, the client's types and docs/api.md are made of it. */
export type Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject | null = z.ZodObject | null,
> = {
  method: 'get' | 'post';
  /** Below `/api/v1`, with parameters in braces. */
  path: string;
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
};

const none = z.object({});

/** What nearly every lookup has in common, and nearly every order. */
export const lookup = { method: 'get', params: none, query: none, body: null } as const;
export const order = { method: 'post', params: none, query: none, body: z.strictObject({}) } as const;

export const paging = z.object({
  after: z.string().optional().describe('the `next` of the page before'),
  limit: z.coerce.number().int().min(1).max(1000).default(50).describe('how many at most'),
});

/** A page of a list; `next` is the cursor of the page after it. */
export function listOf<Name extends string, One extends z.ZodType>(name: Name, one: One) {
  const next = text.nullable().describe('for `after`; null at the end');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key loses its name
  const rows = { [name]: list(one) } as unknown as Record<Name, z.ZodReadonly<z.ZodArray<One>>>;
  return z.object({ ...rows, next });
}
