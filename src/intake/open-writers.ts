import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Writer } from '../core/domain/waiting-file.ts';

/**
 * Finds the processes that have these files open for writing. On Linux an account sees its own processes, and
 * root sees all. The result is empty without /proc. A descriptor is resolved only where its name matches one
 * of the files, so a file system that hangs is never touched. The calls are synchronous: none waits for a
 * disk, and thousands of asynchronous ones would each cost a change of threads.
 */
export async function openWriters(paths: readonly string[], proc = '/proc'): Promise<Map<string, Writer[]>> {
  const writers = new Map<string, Writer[]>();
  const wanted = new Map<string, string[]>();
  const names = new Set<string>();
  for (const path of paths) {
    const id = fileId(path);
    if (id === null) continue;
    wanted.set(id, [...(wanted.get(id) ?? []), path]);
    names.add(basename(orElse(() => realpathSync(path), path)));
  }
  if (wanted.size === 0) return writers;
  const pids = namesIn(proc).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    for (const descriptor of namesIn(join(proc, pid, 'fd'))) {
      const link = join(proc, pid, 'fd', descriptor);
      if (!names.has(basename(orElse(() => readlinkSync(link), '')))) continue;
      const files = wanted.get(fileId(link) ?? '') ?? [];
      if (files.length === 0 || !isForWriting(join(proc, pid, 'fdinfo', descriptor))) continue;
      const command = textOf(join(proc, pid, 'comm')).trim();
      for (const path of files)
        writers.set(path, [...(writers.get(path) ?? []), { pid: Number(pid), command }]);
    }
  }
  return writers;
}

/** Returns the identity of a file, through links; null where it cannot be seen. */
function fileId(path: string): string | null {
  const stats = orElse(() => statSync(path, { bigint: true }), null);
  return stats ? `${stats.dev} ${stats.ino}` : null;
}

/** `flags` of proc(5) is octal; the last two bits are O_RDONLY, O_WRONLY or O_RDWR. */
function isForWriting(info: string): boolean {
  const flags = /^flags:\s+([0-7]+)$/m.exec(textOf(info))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
}

function namesIn(folder: string): string[] {
  return orElse(() => readdirSync(folder), []);
}

function textOf(path: string): string {
  return orElse(() => readFileSync(path, 'utf8'), '');
}

/** Returns `other` on any error: a process may end, or belong to somebody else, at each step. */
function orElse<T>(look: () => T, other: T): T {
  try {
    return look();
  } catch {
    return other;
  }
}
