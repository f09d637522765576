import { createRequire } from 'node:module';

/** Characters that take one column each: ASCII, Latin-1, dashes, quotes and the ellipsis. No sequence of them is less. */
const narrow = /^[ -~\u{a0}-\u{ac}\u{ae}-\u{ff}\u{2010}-\u{2027}]*$/u;
const require = createRequire(import.meta.url);

/**
 * How many columns of a terminal this text takes. Only other characters need the library: it takes longer to load than
 * a command's own files.
 */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  const { default: stringWidth }: typeof import('string-width') = require('string-width');
  return stringWidth(text);
}
