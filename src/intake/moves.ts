import { copyFile, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { foreignEnding, readEnding } from '../core/domain/file-formats.ts';
import { syncFolderLater } from './csv-file.ts';
import { harmlessName } from './file-name.ts';
import { unreadableCode } from './unreadable.ts';

/** Whether a regular file exists at the path; a link, folder or pipe does not count. */
export async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (unreadableCode(error)) return false;
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** False when a file is gone: a process that stood still may have lost the intake lock to one that removed its sheets. */
export async function allExist(paths: readonly string[]): Promise<boolean> {
  return (await Promise.all(paths.map(exists))).every(Boolean);
}

/** Returns `NAME`, or `NAME-2` and so on: a stem under which none of these endings exists in the folder. */
export async function freeStem(folder: string, fileName: string, endings: string[]): Promise<string> {
  const stem = harmlessName(fileName).replace(readEnding, '').replace(foreignEnding, '');
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? stem : `${stem}-${n}`;
    const present = await Promise.all(endings.map((ending) => exists(join(folder, candidate + ending))));
    if (!present.includes(true)) return candidate;
  }
}

/** Moves a file, also to another file system; both folders are synced. */
export async function moveFile(source: string, target: string): Promise<void> {
  if (await renamed(source, target)) return;
  await copyWhole(source, target);
  await rm(source);
  await syncFolderLater(dirname(source));
}

/** Renames a file and syncs both folders. Returns false where they are on different file systems. */
export async function renamed(source: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await rename(source, target);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EXDEV') return false;
    throw error;
  }
  await syncFolderLater(dirname(target));
  await syncFolderLater(dirname(source));
  return true;
}

/** Copies a file: the copy appears whole or not at all. */
export async function copyWhole(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(target), `.${basename(target)}.tmp`);
  await copyFile(source, temporary);
  const handle = await open(temporary, 'r');
  await handle.sync();
  await handle.close();
  await rename(temporary, target);
  await syncFolderLater(dirname(target));
}

/** Removes the file's `.done` marker and moves its control figures along. */
export async function tidyMarkers(source: string, target: string): Promise<void> {
  if (await isPlainFile(`${source}.done`)) await rm(`${source}.done`, { force: true });
  if (await isPlainFile(`${source}.control.json`))
    await moveFile(`${source}.control.json`, `${target}.control.json`);
}
