import { readEnding } from './file-formats.ts';

/** A reference: 1 to 50 letters, digits, `_` and `-`, beginning with a letter or digit (P22). */
export function isReference(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(text);
}

/** The form in which references are compared and unique: lower case (P22). */
export function foldReference(reference: string): string {
  return reference.toLowerCase();
}

/**
 * Generates a reference for a row of a file without that column: prefix, eight hex of the content hash, row. The same
 * file always gives the same references, so that it can never be paid under a second set (P22, P23).
 */
export function generatedReference(prefix: string, contentHash: string, row: number): string {
  return `${prefix}${contentHash.slice(0, 8)}-${row}`;
}

/** Derives the batch's name from the file's: lower case, `[a-z0-9-]`, at most 40 characters, never empty. */
export function batchName(fileName: string): string {
  const stem = fileName.replace(/^.*[/\\]/, '').replace(readEnding, '');
  const plain = stem.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'batch' : slug;
}

/** BATCH: `<name>-<yyyymmdd>-<6 hex of the hash>`; `at` is an ISO instant in UTC, whose day is the day of intake. */
export function batchId(fileName: string, at: string, contentHash: string): string {
  return `${batchName(fileName)}-${at.slice(0, 10).replaceAll('-', '')}-${contentHash.slice(0, 6)}`;
}
