import { z } from 'zod';
import { jsonShapes } from './json-shapes.ts';

type Schema = z.core.JSONSchema.JSONSchema;

/** Every command's object as a type, with what its fields mean. */
export function jsonText(): string {
  return Object.entries(jsonShapes)
    .map(([name, { does, shape }]) =>
      [`## ${name}`, does, `\`\`\`ts\n${typeText(z.toJSONSchema(shape), '')}\n\`\`\``].join('\n\n'),
    )
    .join('\n\n');
}

function typeText(schema: Schema | boolean, indent: string): string {
  if (typeof schema === 'boolean') return 'unknown';
  if (schema.anyOf) return schema.anyOf.map((one) => typeText(one, indent)).join(' | ');
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
  if (lines.length === 0 && typeof more === 'object') return `{ [name]: ${typeText(more, indent)} }`;
  // A schema that allows more fields promises nothing about them.
  if (typeof more === 'object') lines.push(`${inner}…`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
