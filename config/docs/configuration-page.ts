import { z } from 'zod';
import { fileSchema, sections } from '../../src/core/settings/settings-schema.ts';
import { table } from './region.ts';

const node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  description: z.string(),
});
const properties = z.looseObject({ properties: z.record(z.string(), node) });

/** Every key with its values, its default and its meaning. Throws for a key that the schema does not describe. */
export function configurationText(): string {
  const { mode } = fileSchema.shape;
  const top = keysTable('', { mode }, z.strictObject({ mode }));
  const parts = Object.entries(sections).map(([name, section]) =>
    [`### ${name}`, keysTable(`${name}.`, section.shape, section)].join('\n\n'),
  );
  return [top, ...parts].join('\n\n');
}

function keysTable(prefix: string, shape: Record<string, z.ZodType>, section: z.ZodType): string {
  const schema = properties.parse(z.toJSONSchema(section, { io: 'input', unrepresentable: 'any' }));
  const rows = Object.entries(schema.properties).map(([key, one]) => [
    `\`${prefix}${key}\``,
    valuesOf(one),
    defaultOf(shape[key]),
    one.description,
  ]);
  return table(['key', 'values', 'default', 'meaning'], rows);
}

function valuesOf(one: z.infer<typeof node>): string {
  if (one.const !== undefined) return code(one.const);
  if (one.enum) return one.enum.map(code).join(', ');
  if (one.type === 'integer') return rangeOf(one);
  if (one.type === 'boolean') return 'true, false';
  if (one.type === 'array') return 'list';
  return one.type === 'object' ? 'map' : 'text';
}

function rangeOf({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: z.infer<typeof node>): string {
  return maximum >= 2_147_483_647 ? `number from ${minimum}` : `${minimum} to ${maximum}`;
}

function defaultOf(type: z.ZodType | undefined): string {
  const parsed = type?.safeParse(undefined);
  if (!parsed?.success) return 'required';
  return parsed.data === '' ? 'empty' : code(parsed.data);
}

const code = (value: unknown): string =>
  `\`${typeof value === 'string' && value !== '\t' ? value : JSON.stringify(value)}\``;
