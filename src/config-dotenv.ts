import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** One entry with its value, which runs over several lines inside quotes, or a comment, or nothing. */
const readable = /^[ \t]*(?:(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*|#.*)?$/gm;

/**
 * The variables of an `.env`, and the numbers of the lines that give none: `parseEnv` passes over these in silence, and
 * a brake that stands in one would be lost unseen.
 */
export function readEnv(text: string): { values: Environment; unreadable: number[] } {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const left = plain.replace(readable, (entry) => entry.replace(/[^\n]+/g, ''));
  const unreadable = left.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
  return { values: parseEnv(plain), unreadable };
}
