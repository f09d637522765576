import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openHome } from './home.ts';
import type { Scene } from './outage.ts';

/** A home whose data folder is a disk of its own, and is left with so many MiB. */
export async function onSmallDisk(settings: Record<string, string>, leftMebibytes: number): Promise<Scene> {
  const home = await openHome(settings);
  const data = join(home.dir, 'data');
  mkdirSync(data, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0700', 'tmpfs', data]);
  const filler = join(data, 'filler');
  return {
    home,
    async begin() {
      if (leftMebibytes > 0) execFileSync('fallocate', ['-l', `${400 - leftMebibytes}m`, filler]);
      else execFileSync('sh', ['-c', `cat /dev/zero > "$0" 2>/dev/null || true`, filler]);
    },
    async mend() {
      rmSync(filler);
      // A serve that found out is about to end, or has ended.
      if (leftMebibytes > 0) return;
      await home.serve.ended();
      await home.serve.start();
    },
    async close() {
      await home.serve.end('SIGTERM');
      execFileSync('umount', ['-l', data]);
      await home.close();
    },
  };
}
