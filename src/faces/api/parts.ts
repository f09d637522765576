import { z } from 'zod';
import { list, text } from '../../core/shapes/parts.ts';

export const none = z.object({});

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
