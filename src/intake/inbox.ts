import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';

/** Which files of the inbox are whole: `ready` may be taken, `waiting` may still be being written. */
export type InboxScan = { ready: string[]; waiting: string[] };

type Seen = { mark: string; since: number };

/**
 * The gate of the inbox: a file is whole when its `.done` marker stands beside it, or when size, time and inode were
 * the same at two looks `settleMs` apart (0: at once). Remembers its looks, so that a daemon waits only for new files.
 */
export function inboxGate(deps: { inbox: string; clock: Clock; settleMs: number }): () => Promise<InboxScan> {
  const { inbox, clock, settleMs } = deps;
  let seen = new Map<string, Seen>();

  async function look(): Promise<Map<string, { done: boolean; seen: Seen }>> {
    const names = await readdir(inbox).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    });
    const all = new Set(names);
    const found = new Map<string, { done: boolean; seen: Seen }>();
    for (const name of names.filter(isBatchName).sort()) {
      const stat = await lstat(join(inbox, name)).catch(() => null);
      // A link, folder or pipe is no dropped file.
      if (!stat?.isFile()) continue;
      const mark = `${stat.size} ${stat.mtimeMs} ${stat.ino}`;
      const before = seen.get(name);
      const since = before?.mark === mark ? before.since : clock.monotonic();
      found.set(name, { done: all.has(`${name}.done`), seen: { mark, since } });
    }
    seen = new Map([...found].map(([name, file]) => [name, file.seen]));
    return found;
  }

  return async () => {
    let files = await look();
    const whole = (file: { done: boolean; seen: Seen }): boolean =>
      file.done || clock.monotonic() - file.seen.since >= settleMs;
    if (![...files.values()].every(whole)) {
      await clock.sleep(settleMs);
      files = await look();
    }
    const scan: InboxScan = { ready: [], waiting: [] };
    for (const [name, file] of files) (whole(file) ? scan.ready : scan.waiting).push(name);
    return scan;
  };
}

/** Names that can be a batch: not our own outputs, not hidden, not half of an upload. */
function isBatchName(name: string): boolean {
  return /\.csv$/i.test(name) && !name.startsWith('.') && !/\.(errors|invalid|tmp|part)\.csv$/i.test(name);
}
