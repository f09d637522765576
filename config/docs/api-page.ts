import { z } from 'zod';
import { jsonShapes } from '../../src/core/shapes/json-shapes.ts';
import type { Right } from '../../src/faces/admin/access.ts';
import type { Operation } from '../../src/faces/api/operation.ts';
import { operations } from '../../src/faces/api/operations.ts';
import { type Schema, typeText } from './json-page.ts';

/** Every path of the API with its right, its fields and its answers, then the types that these name. */
export function apiText(): string {
  const sections = Object.entries<Operation>(operations).map(([name, one]) => operationText(name, one));
  const types = Object.entries(ownTypes())
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, schema]) => `type ${id} = ${typeText(schema, '')}`);
  return [...sections, '### Types', `\`\`\`ts\n${types.join('\n\n')}\n\`\`\``].join('\n\n');
}

/** The named types of answers that docs/json.md has not. */
function ownTypes(): Record<string, Schema> {
  const namedIn = (shapes: readonly z.ZodType[]): Record<string, Schema> =>
    Object.assign({}, ...shapes.map((shape) => z.toJSONSchema(shape).$defs ?? {}));
  const printed = namedIn(Object.values(jsonShapes).map(({ shape }) => shape));
  const answers = Object.values<Operation>(operations).flatMap(({ answers: all }) => Object.values(all));
  const all = Object.entries(namedIn(answers.flatMap(({ shape }) => shape ?? [])));
  return Object.fromEntries(all.filter(([id]) => !(id in printed) && !id.startsWith('__')));
}

const rightText: Record<Right, string> = {
  figures: 'any token',
  read: 'role `read`',
  drop: 'role `drop`',
  approve: 'role `approve`',
  decide: 'role `decide`',
};

function operationText(
  name: string,
  { method, path, does, right, query, body, streams, answers }: Operation,
) {
  const fields = [...fieldRows('query', query), ...(body ? fieldRows('body', body) : [])];
  const table = ['| field | in | |', '|---|---|---|', ...fields].join('\n');
  const said = Object.entries(answers).map(([status, answer]) => answerText(status, answer));
  return [
    `### ${name}`,
    `\`${method.toUpperCase()} ${path}\`, ${rightText[right]}. ${does}`,
    ...(streams ? [`The body is the file: ${streams.map((type) => `\`${type}\``).join(', ')}.`] : []),
    ...(fields.length > 0 ? [table] : []),
    ...said,
  ].join('\n\n');
}

function fieldRows(place: string, shape: z.ZodObject): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(shape, { io: 'input' });
  return Object.entries(properties).map(([name, one]) => {
    const schema: Schema = typeof one === 'object' ? one : {};
    const called = schema.$ref?.split('/').at(-1);
    const kind = schema.enum ? schema.enum.map((value) => `\`${String(value)}\``).join(', ') : (called ?? '');
    const fallback =
      schema.default === undefined
        ? ''
        : `\`${JSON.stringify(schema.default).replaceAll('"', '')}\` where it is left out`;
    const must = required.includes(name) ? 'needed' : '';
    const meaning = [schema.description, kind.length < 200 ? kind : '', must, fallback]
      .filter(Boolean)
      .join('; ');
    return `| \`${name}\` | ${place} | ${meaning} |`;
  });
}

type Described = Operation['answers'][number];

/** The type of an answer; one that a command prints too stands in docs/json.md. */
function answerText(status: string, { does, shape, type }: Described): string {
  if (!shape) return `${status}, \`${type}\`: ${does}`;
  const printed = Object.entries(jsonShapes).find(([, one]) => one.shape === shape)?.[0];
  if (printed !== undefined) {
    const anchor = printed
      .toLowerCase()
      .replaceAll(/[^a-z -]/g, '')
      .replaceAll(' ', '-');
    return `${status}: ${does} [As \`${printed} --json\`](json.md#${anchor}).`;
  }
  return `${status}: ${does}\n\n\`\`\`ts\n${typeText(z.toJSONSchema(shape), '')}\n\`\`\``;
}
