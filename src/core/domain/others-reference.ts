import { createHash } from 'node:crypto';

/** The longest reference that fits into an index of every database. */
const longest = 500;
const keptLength = 400;

/** Makes a text storable in every database: without NUL and lone surrogates, which a service may send. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** A foreign reference as the ledger stores it: storable, and shortened with its digest if it is too long. */
export function keptReference(text: string): string {
  if (text.length <= longest) return storable(text);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return `${storable(text.slice(0, keptLength))}… ${text.length} characters, sha256 ${digest}`;
}

/** False where no question can name the reference: it was changed for storage, or it has a special meaning in a path. */
export function isAskable(reference: string): boolean {
  const changed = reference.includes('\uFFFD') || /… \d+ characters, sha256 [0-9a-f]{32}$/.test(reference);
  return !changed && reference !== '' && reference !== '.' && reference !== '..';
}
