import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** One entry with its value, which runs over several lines inside quotes, or a comment, or nothing. */
const readable = /^[ \t]*(?:(?:export +)?[\w.-]+[ \t]*=[ \t]*("[^"]*"|'[^']*'|`[^`]*`)?(.*)|#.*)?$/gm;

/**
 * The variables of an `.env`, and the numbers of the lines that give none: `parseEnv` passes over these in silence, and
 * a brake that stands in one would be lost unseen.
 */
export function readEnv(text: string): { values: Environment; unreadable: number[] } {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  // After a name with nothing but blanks `parseEnv` takes the next line for its value, and an indented comment for a name.
  const plain = lines.replace(readable, (entry) => entry.trimStart().replace(/^([^=]*=)[ \t]+$/, '$1'));
  const left = plain.replace(readable, (entry, quoted = '', rest = '') => {
    // It ends at the quote that begins another entry's value: its own was forgotten, and the lines between are lost.
    const isTorn = quoted.includes('\n') && !/^[ \t]*(?:#.*)?$/.test(rest);
    return isTorn ? entry : entry.replace(/[^\n]+/g, '');
  });
  const unreadable = left.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
  return { values: parseEnv(plain), unreadable };
}
