import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * The process that listens on a TCP port, as `name (pid 4711)`, as far as Linux shows it to this user. Undefined on
 * other systems and for other users' processes. Arguments are left out, because they may hold secrets.
 */
export function ownerOfPort(port: number): string | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listening(readOrEmpty(file), port)),
  );
  if (sockets.size === 0) return undefined;
  const pid = namesIn('/proc').find(
    (name) =>
      /^\d+$/.test(name) &&
      namesIn(`/proc/${name}/fd`).some((fd) => sockets.has(targetOf(`/proc/${name}/fd/${fd}`))),
  );
  // A program may name its threads: Node calls its first one MainThread.
  const name = pid && (basename(targetOf(`/proc/${pid}/exe`)) || readOrEmpty(`/proc/${pid}/comm`).trim());
  return pid && `${name} (pid ${pid})`;
}

/** The sockets in state LISTEN (0A), as the links in a process's `fd` folder name them. */
function listening(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(wanted) && state === '0A' && inode ? [`socket:[${inode}]`] : [];
  });
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
