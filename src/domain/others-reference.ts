import { createHash } from 'node:crypto';

/** More would not fit into an index of every database. */
const longest = 500;
const shown = 400;

/** A text as every database can hold it: without NUL and half characters, which a service may well send. */
export function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** A reference that a shop or the service made, as the ledger holds it: storable, and an endless one by its digest. */
export function keptReference(text: string): string {
  if (text.length <= longest) return storable(text);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return `${storable(text.slice(0, shown))}… ${text.length} characters, sha256 ${digest}`;
}

/**
 * False where no question can name the reference: it is not held as it came, or a path could not keep it apart from
 * its own segments.
 */
export function isAskable(reference: string): boolean {
  const changed = reference.includes('\uFFFD') || /… \d+ characters, sha256 [0-9a-f]{32}$/.test(reference);
  return !changed && reference !== '' && reference !== '.' && reference !== '..';
}
