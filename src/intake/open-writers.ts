import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Writer } from '../domain/waiting-file.ts';

/**
 * Who has these files open for writing, as far as this account may look: on Linux all processes of its own user, and
 * everybody's for root. Empty where there is no /proc. A descriptor is asked for its file only where its name is that of
 * one of them, so that a file system that hangs is never asked. Synchronous, since nothing here waits for a disk and each
 * of some thousand questions would cost a change of threads.
 */
export async function openWriters(paths: readonly string[], proc = '/proc'): Promise<Map<string, Writer[]>> {
  const found = new Map<string, Writer[]>();
  const wanted = new Map<string, string[]>();
  const names = new Set<string>();
  for (const path of paths) {
    const id = fileId(path);
    if (id === null) continue;
    wanted.set(id, [...(wanted.get(id) ?? []), path]);
    names.add(basename(orElse(() => realpathSync(path), path)));
  }
  if (wanted.size === 0) return found;
  const pids = namesIn(proc).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    for (const descriptor of namesIn(join(proc, pid, 'fd'))) {
      const link = join(proc, pid, 'fd', descriptor);
      if (!names.has(basename(orElse(() => readlinkSync(link), '')))) continue;
      const files = wanted.get(fileId(link) ?? '') ?? [];
      if (files.length === 0 || !isForWriting(join(proc, pid, 'fdinfo', descriptor))) continue;
      const command = textOf(join(proc, pid, 'comm')).trim();
      for (const path of files) found.set(path, [...(found.get(path) ?? []), { pid: Number(pid), command }]);
    }
  }
  return found;
}

/** Which file a path leads to, through links; null for none that can be seen. */
function fileId(path: string): string | null {
  const found = orElse(() => statSync(path, { bigint: true }), null);
  return found ? `${found.dev} ${found.ino}` : null;
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

/** A process may end, or belong to somebody else, at each step. */
function orElse<T>(look: () => T, other: T): T {
  try {
    return look();
  } catch {
    return other;
  }
}
