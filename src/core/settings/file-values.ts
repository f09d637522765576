import type { z } from 'zod';
import { nearest, slip } from '../domain/nearest.ts';
import { type FileConfig, fileSchema, sections } from './settings-schema.ts';

type Tree = Record<string, unknown>;

/** Checks the YAML tree with the environment's overrides applied; undefined when a problem was found. */
export function parseFile(
  tree: unknown,
  env: Record<string, string | undefined>,
  problems: string[],
  /** Returns the position of a key, as a prefix for its problem. */
  placeOf: (path: readonly string[]) => string,
): { values: FileConfig; origins: Record<string, string> } | undefined {
  if (tree === undefined) return undefined;
  if (!isTree(tree)) {
    problems.push('the configuration must be a map of sections, such as service: {base_url: …}');
    return undefined;
  }
  const origins: Record<string, string> = {};
  const merged = mergeOverrides(tree, env, origins, problems);
  const result = fileSchema.safeParse(merged, { jitless: true });
  if (!result.success) {
    problems.push(...result.error.issues.flatMap((issue) => describe(issue, { merged, origins, placeOf })));
    return undefined;
  }
  return { values: result.data, origins };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Applies the overrides. Every section is then present, so that a missing required key is reported by its full name. */
function mergeOverrides(
  tree: Tree,
  env: Record<string, string | undefined>,
  origins: Record<string, string>,
  problems: string[],
): Tree {
  const merged: Tree = { ...tree };
  origins.mode = tree.mode === undefined ? 'default' : 'file';
  if (env.COUNTERFOIL_MODE) {
    merged.mode = env.COUNTERFOIL_MODE;
    origins.mode = 'COUNTERFOIL_MODE';
  }
  for (const [name, schema] of Object.entries(sections)) {
    const given = tree[name] ?? {};
    if (!isTree(given)) continue;
    const values: Tree = { ...given };
    const keys: Record<string, z.ZodType> = schema.shape;
    const prefix = `COUNTERFOIL_${name.toUpperCase()}_`;
    for (const [key, type] of Object.entries(keys)) {
      const variable = `${prefix}${key.toUpperCase()}`;
      const text = env[variable];
      origins[`${name}.${key}`] = text !== undefined ? variable : key in given ? 'file' : 'default';
      if (text !== undefined) values[key] = fromText(text, type);
    }
    refuseUnknownVariables(prefix, Object.keys(keys), env, problems);
    merged[name] = values;
  }
  return merged;
}

/** Reads the text as the type of the key's default. Text that does not fit is left for the schema to refuse. */
function fromText(text: string, type: z.ZodType): unknown {
  const example = type.safeParse(undefined).data;
  if (typeof example === 'number') return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
  if (typeof example === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (typeof example !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Secrets whose names begin like a section's. */
const secretNames = /^COUNTERFOIL_(ADMIN_TOKENS|ALERTS_SMTP_PASSWORD|EVENTS_SECRET)(_FILE)?$/;

/** Refuses a misspelt override, which would otherwise be ignored silently. */
function refuseUnknownVariables(
  prefix: string,
  keys: string[],
  env: Record<string, string | undefined>,
  problems: string[],
): void {
  const known = keys.map((key) => `${prefix}${key.toUpperCase()}`);
  for (const name of Object.keys(env)) {
    if (!name.startsWith(prefix) || known.includes(name) || secretNames.test(name)) continue;
    problems.push(`${name}: no such setting${suggest(name, known)}`);
  }
}

type Given = {
  merged: Tree;
  origins: Record<string, string>;
  placeOf: (path: readonly string[]) => string;
};

function describe(issue: z.core.$ZodIssue, { merged, origins, placeOf }: Given): string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys' && !/knows only/.test(issue.message)) {
    const known = knownKeys(path);
    return issue.keys.map((key) => {
      const full = [...path, key];
      return `${placeOf(full)}${full.join('.')}: no such key${suggest(key, known)}`;
    });
  }
  const name = path.join('.');
  const variable = origins[path.slice(0, 2).join('.')] ?? '';
  const where = variable.startsWith('COUNTERFOIL_') ? `${name} (from ${variable})` : name;
  if (issue.code === 'unrecognized_keys') return [`${where}: ${issue.message}`];
  const value = valueAt(merged, path);
  const got = value === undefined ? '' : `, got ${withoutCredentials(JSON.stringify(value))}`;
  // What is wrong with the key of a map stands one level deeper.
  const { message: said } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
  const message = said.replace(/, received .*$/, '').replace(/^Invalid input: /, '');
  return [`${where || 'the configuration'}: ${listOrMap(issue, value, where !== name) ?? message}${got}`];
}

/** How to write the list or map that the key expects, using the value that was given. */
function listOrMap(issue: z.core.$ZodIssue, value: unknown, inVariable: boolean): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  const how = inVariable ? ' as JSON' : '';
  if (issue.expected === 'record')
    return `expected a map${how}, such as {"NGN": "5000000.00"} or {"25": "unknown"}`;
  if (issue.expected !== 'array') return undefined;
  const items = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value];
  return `expected a list${how}, such as ${withoutCredentials(JSON.stringify(items))}`;
}

/** Keeps passwords and tokens inside addresses out of the log: removes everything that may be one, and keeps the host. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/\/\/[^/\s]*@/g, '//…@')
    .replace(/"[^"/\s]*@/g, '"…@')
    .replace(/(:\/\/[^/\s?#"]*)([/?#][^\s"]+)/g, (_, host: string) => `${host}/…`);
}

function valueAt(tree: Tree, path: string[]): unknown {
  let at: unknown = tree;
  for (const key of path) at = isTree(at) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined;
  return at;
}

function knownKeys(path: string[]): string[] {
  if (path.length === 0) return Object.keys(fileSchema.shape);
  const section = Object.entries(sections).find(([name]) => name === path[0]);
  const [, name] = path;
  if (section && name !== undefined) {
    const inner: z.ZodType | undefined = Object.entries<z.ZodType>(section[1].shape).find(
      ([key]) => key === name,
    )?.[1];
    const example = inner?.safeParse(undefined).data;
    return isTree(example) ? Object.keys(example) : [];
  }
  return section ? Object.keys(section[1].shape) : [];
}

/** The nearest known name. For a secret, the place where secrets belong, so that nobody writes one into the file. */
function suggest(name: string, known: string[]): string {
  const best = nearest(name, known);
  if (!best) return '';
  if (best.far > slip && /secret|token|password|key$/i.test(name))
    return '; secrets come only from the environment or .env, named as in .env.example (COUNTERFOIL_TEST_SECRET_KEY)';
  const begun = known.find((key) => key.startsWith(name) || name.startsWith(key));
  return `; did you mean ${best.far <= slip ? best.name : (begun ?? best.name)}?`;
}

/** Whether the values can be written out: an alias inside its own anchor makes a circle of them. */
export function canBeWritten(tree: unknown): boolean {
  try {
    JSON.stringify(tree);
    return true;
  } catch {
    return false;
  }
}
