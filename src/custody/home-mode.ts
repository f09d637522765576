import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mode } from '../core/domain/payout.ts';
import { assertMode, readMode } from '../core/storage/schema-version.ts';
import { linkNew } from './mark.ts';

const fileOf = (dataDir: string): string => join(dataDir, '.mode');

/** Throws OtherMode where the data folder belongs to the other mode (P24): its inbox would feed two ledgers. */
export function assertHomeMode(dataDir: string, mode: Mode): void {
  assertMode(dataDir, homeMode(dataDir), mode);
}

/**
 * Binds the data folder to a mode permanently. The file appears complete and never replaces another. If two processes
 * start together with different modes, one throws OtherMode.
 */
export function bindHome(dataDir: string, mode: Mode): void {
  if (homeMode(dataDir) === undefined) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const own = `${fileOf(dataDir)}.${process.pid}`;
    writeFileSync(own, `${mode}\n`, { mode: 0o600 });
    try {
      linkNew(own, fileOf(dataDir));
    } finally {
      rmSync(own, { force: true });
    }
  }
  assertHomeMode(dataDir, mode);
}

function homeMode(dataDir: string): Mode | undefined {
  const path = fileOf(dataDir);
  try {
    return readMode(path, readFileSync(path, 'utf8').trim());
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
