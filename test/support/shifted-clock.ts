import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './temporary-folder.ts';

/** A wall clock for processes started with `env`, which `shift` sets so many milliseconds off the machine's. */
export function shiftedClock(): { env: Record<string, string>; shift(ms: number): void } {
  const file = join(temporaryFolder(), 'shift');
  const preload = fileURLToPath(new URL('./shifted-clock.mjs', import.meta.url));
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, SHIFTED_CLOCK_FILE: file },
    shift: (ms) => writeFileSync(file, String(ms)),
  };
}
