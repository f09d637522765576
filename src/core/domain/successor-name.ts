import { createHash } from 'node:crypto';
import { knownColumn } from './batch-rules.ts';
import { foldReference, isReference } from './ids.ts';

/** The first payout of a chain of successors, and the number of this payment: 2 is the first successor. */
export type SuccessorChain = { root: string; number: number };

const longest = 50;
const mostTries = 100;

/**
 * The reference of a successor: `ROOT-R2`, then `ROOT-R3`. A root that is too long is cut and marked with digits of its
 * hash; so is one whose plain successor is taken. The same chain and ledger always give the same reference (P20, P22).
 * Throws when a hundred of them are taken, or the prefix leaves no room.
 */
export function successorReference(
  { root, number }: SuccessorChain,
  prefix: string,
  isTaken: (key: string) => boolean,
): string {
  const whole = root.startsWith(prefix) ? root : `${prefix}${root}`;
  const suffix = `-R${number}`;
  for (let i = 0; i < mostTries; i++) {
    const plain = i === 0 && whole.length + suffix.length <= longest;
    const mark = plain ? '' : `-${hashOf(`${root} ${number} ${i}`)}`;
    const reference = `${whole.slice(0, longest - mark.length - suffix.length)}${mark}${suffix}`;
    if (!isReference(reference) || !reference.startsWith(prefix))
      throw new Error(
        `no reference can be made for a successor of ${root}: the prefix ${prefix} is too long`,
      );
    if (!isTaken(foldReference(reference))) return reference;
  }
  throw new Error(`no free reference for a successor of ${root}`);
}

/** The references that this one may succeed, by the rules of {@link successorReference} for short roots. */
export function rootsNamedBy(reference: string, prefix: string): string[] {
  const whole = /^(.+)-R(?:[2-9]|[1-9]\d+)$/i.exec(reference)?.[1];
  if (whole === undefined) return [];
  const unmarked = /^(.+)-[0-9a-f]{6}$/i.exec(whole)?.[1];
  const roots = unmarked === undefined ? [whole] : [whole, unmarked];
  if (prefix === '') return roots;
  const bare = roots.flatMap((root) => (root.startsWith(prefix) ? root.slice(prefix.length) : []));
  return [...roots, ...bare.filter((root) => root !== '')];
}

/** Replaces the reference in a row's cells; a file without that column keeps its cells. */
export function successorCells(
  columns: readonly string[],
  cells: readonly string[],
  reference: string,
): string[] {
  const place = columns.findIndex((column) => knownColumn(column.trim()) === 'reference');
  return cells.map((cell, i) => (i === place ? reference : cell));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}
