import { z } from 'zod';
import { jsonShapes } from '../../src/core/shapes/json-shapes.ts';

/** A schema as JSON Schema has it. */
export type Schema = z.core.JSONSchema.JSONSchema;

/** Every command's object as a type, with what its fields mean, then the types that these name. */
export function jsonText(): string {
  const named = new Map<string, Schema>();
  const sections = Object.entries(jsonShapes).map(([name, { does, shape }]) => {
    const schema = z.toJSONSchema(shape);
    for (const [id, one] of Object.entries(schema.$defs ?? {})) named.set(id, one);
    return section(name, does, typeText(schema, ''));
  });
  const types = [...named]
    .filter(([id]) => isNamed(id))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, schema]) => `type ${id} = ${typeText(schema, '')}`);
  return [...sections, section('Types', 'The types that the objects name.', types.join('\n\n'))].join('\n\n');
}

const section = (title: string, does: string, code: string): string =>
  [`## ${title}`, does, `\`\`\`ts\n${code}\n\`\`\``].join('\n\n');

/** False for a schema that refers to itself: any JSON. */
const isNamed = (id: string): boolean => !id.startsWith('__');

/** A schema as a type of TypeScript; a named one by its name. */
export function typeText(schema: Schema | boolean, indent: string): string {
  if (typeof schema === 'boolean') return 'unknown';
  const id = schema.$ref?.split('/').at(-1);
  if (id !== undefined) return isNamed(id) ? id : 'unknown';
  const oneOf = schema.anyOf ?? schema.oneOf;
  if (oneOf) return oneOf.map((one) => typeText(one, indent)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.type === 'array') return arrayText(schema, indent);
  if (schema.type === 'object') return objectText(schema, indent);
  const types = [schema.type ?? 'unknown'].flat();
  return types.map((one) => (one === 'integer' ? 'number' : one)).join(' | ');
}

function arrayText(schema: Schema, indent: string): string {
  const item = schema.items;
  const text = item === undefined || Array.isArray(item) ? 'unknown' : typeText(item, indent);
  return text.includes(' | ') && !text.startsWith('{') ? `(${text})[]` : `${text}[]`;
}

function objectText(schema: Schema, indent: string): string {
  const inner = `${indent}  `;
  const required = new Set(schema.required);
  const lines = Object.entries(schema.properties ?? {}).map(([name, one]) => {
    const meaning = typeof one === 'object' && one.description ? `   // ${one.description}` : '';
    return `${inner}${name}${required.has(name) ? '' : '?'}: ${typeText(one, inner)}${meaning}`;
  });
  const { additionalProperties: more } = schema;
  if (lines.length === 0 && typeof more === 'object') {
    const key = schema.propertyNames === undefined ? 'name' : typeText(schema.propertyNames, '');
    return `{ [${/^[A-Z]/.test(key) ? key : 'name'}]: ${typeText(more, indent)} }`;
  }
  // A schema that allows more fields promises nothing about them.
  if (typeof more === 'object') lines.push(`${inner}…`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
