import type { FastifyRequest } from 'fastify';

/** How many rows a page of a list has. */
export const perPage = 50;

/** The only value of a name in the query. */
export function queryOf({ query }: FastifyRequest, name: string): string | undefined {
  const value: unknown = new Map(Object.entries(query ?? {})).get(name);
  return typeof value === 'string' ? value : undefined;
}

export function pageIn(request: FastifyRequest): { number: number; offset: number } {
  const number = Math.min(10_000, Math.max(1, Number.parseInt(queryOf(request, 'page') ?? '', 10) || 1));
  return { number, offset: (number - 1) * perPage };
}

/** The values of these names that are not empty. */
export function fieldsIn<Name extends string>(
  request: FastifyRequest,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const given: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = queryOf(request, name)?.trim() ?? '';
    if (text !== '') given[name] = text;
  }
  return given;
}

/** The address of a list with these parts. */
export function addressOf(path: string, parts: Record<string, string>): string {
  const text = new URLSearchParams(parts).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Whether the reader asked for all who joined or left, with the link of `compared-part.ts`. */
export function showsEverybody(request: FastifyRequest): boolean {
  return queryOf(request, 'compared') === 'all';
}
