import { basename, dirname, join } from 'node:path';
import type { PromisedFile } from '../core/ledger/file-tasks.ts';
import { openRefusalOf, type Refusal, type RowsLeft, recordRefusal } from '../core/ledger/rejected-files.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { harmlessName } from './file-name.ts';
import { collectionsFolder } from './inbox.ts';
import { exists, isPlainFile } from './moves.ts';
import { bytesHashOf } from './read.ts';

type Deps = {
  ledger: Ledger;
  clock: Clock;
  paths: { inbox: string };
  config: { intake: Pick<Config['intake'], 'maxBytes' | 'maxRows'> };
};

/** The name of a file as a person dropped it: `november.csv`, or `collections/november.csv`. */
export function droppedName({ inbox }: { inbox: string }, path: string): string {
  const name = harmlessName(basename(path));
  return dirname(path) === join(inbox, collectionsFolder) ? `${collectionsFolder}/${name}` : name;
}

/**
 * Records that a file of the inbox is refused, before it moves: after a crash it is refused again. A file that a command
 * names is not recorded, since its person reads the answer. Only under the intake lock.
 */
export async function noteRefusal(
  { ledger, clock, paths, config }: Deps,
  path: string,
  refusal: Omit<Refusal, 'name' | 'at'>,
): Promise<void> {
  const name = droppedName(paths, path);
  const before = await openRefusalOf(ledger.db, name);
  const contentHash = refusal.contentHash || ((await bytesHashOf(path, config.intake)) ?? '');
  // A file without a digest could not be opened, or is too large to be read.
  const isSame =
    before &&
    (before.content_hash === '' || before.content_hash === contentHash) &&
    (before.place === path || !(await exists(before.place)));
  const repeats = isSame ? before.id : null;
  const found = { name, at: clock.iso(), ...refusal, contentHash };
  await ledger.write((trx) => recordRefusal(trx, found, repeats));
}

/** The same for a file that cannot be opened. It stays in the inbox. */
export async function noteUnread(deps: Deps, path: string): Promise<void> {
  if (!(await isPlainFile(path))) return;
  await noteRefusal(deps, path, { place: path, errorsFile: null, problems: 1, contentHash: '' });
}

/** Returns what a taken file lacks, by the sheets that are promised with it; null for a whole one. */
export function rowsLeftIn(
  files: readonly PromisedFile[],
  { badRows, problems }: { badRows: number; problems: { count: number } },
): RowsLeft | null {
  const target = (kind: PromisedFile['kind']): string | null =>
    files.find((file) => file.kind === kind)?.target ?? null;
  const place = target('invalid');
  if (place === null) return null;
  return { rows: badRows, problems: problems.count, place, errorsFile: target('errors') };
}
