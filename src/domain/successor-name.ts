import { createHash } from 'node:crypto';
import { knownColumn } from './batch-rules.ts';
import { foldReference, isReference } from './ids.ts';

/** The payout that a chain of successors began with, and which payment of it this is: 2 is the first successor. */
export type Chain = { root: string; number: number };

const longest = 50;
const mostTries = 100;

/**
 * The reference under which a payout is paid again: `ROOT-R2`, then `ROOT-R3`. A root too long is cut and marked with
 * digits of its hash, and so is one whose plain successor is taken. The same chain and ledger always give the same
 * answer (P20, P22). Throws when a hundred of them are taken, or the prefix leaves no room.
 */
export function successorReference(
  { root, number }: Chain,
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

/** The references that one of this form may be the successor of, as {@link successorReference} makes it of a short root. */
export function rootsNamedBy(reference: string, prefix: string): string[] {
  const whole = /^(.+)-R(?:[2-9]|[1-9]\d+)$/i.exec(reference)?.[1];
  if (whole === undefined) return [];
  const unmarked = /^(.+)-[0-9a-f]{6}$/i.exec(whole)?.[1];
  const roots = unmarked === undefined ? [whole] : [whole, unmarked];
  if (prefix === '') return roots;
  const bare = roots.flatMap((root) => (root.startsWith(prefix) ? root.slice(prefix.length) : []));
  return [...roots, ...bare.filter((root) => root !== '')];
}

/** The row's cells with the reference's replaced; a file without that column keeps its cells. */
export function successorCells(
  columns: readonly string[],
  cells: readonly string[],
  reference: string,
): string[] {
  const place = columns.findIndex((column) => knownColumn(column.trim()) === 'reference');
  return place === -1 ? [...cells] : cells.map((cell, i) => (i === place ? reference : cell));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}
