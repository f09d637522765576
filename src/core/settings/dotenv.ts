import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** One readable entry: a name with its value (which may span lines inside quotes), a comment, or nothing. */
const readable = /^[ \t]*(?:(?:export +)?[\w.-]+[ \t]*=[ \t]*("[^"]*"|'[^']*'|`[^`]*`)?(.*)|#.*)?$/gm;

/**
 * Returns the variables of an `.env` and the numbers of the lines that give none. `parseEnv` skips such lines silently,
 * and a brake set in one would be lost.
 */
export function readEnv(text: string): { values: Environment; unreadable: number[] } {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  // `parseEnv` misreads a name followed only by blanks: it takes the next line for its value, or an indented comment
  // for a name.
  const plain = lines.replace(readable, (entry) => entry.trimStart().replace(/^([^=]*=)[ \t]+$/, '$1'));
  const left = plain.replace(readable, (entry, quoted = '', rest = '') => {
    // The closing quote is missing: the value ends at the next entry's opening quote, and the lines between are lost.
    const isTorn = quoted.includes('\n') && !/^[ \t]*(?:#.*)?$/.test(rest);
    return isTorn ? entry : entry.replace(/[^\n]+/g, '');
  });
  const unreadable = left.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
  return { values: parseEnv(plain), unreadable };
}
