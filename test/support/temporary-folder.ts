import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that goes away with the test, or with the process of a script. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  if (process.env.VITEST === undefined) process.once('exit', remove);
  else onTestFinished(remove);
  return dir;
}
