import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { onPostgres } from './on-postgres/standing.ts';

/** A ledger file with its tables and nothing else: one that was never opened. */
let template: Buffer | undefined;

/** Opens a new ledger, whose tables are copied instead of migrated: four times as fast. */
export async function openNewLedger(
  path: string,
  options: Parameters<typeof openLedger>[1],
): ReturnType<typeof openLedger> {
  if (!onPostgres) {
    template ??= await makeTemplate();
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, template, { mode: 0o600 });
  }
  return openLedger(path, options);
}

async function makeTemplate(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-template-'));
  const path = join(folder, 'ledger.db');
  try {
    await (await openLedger(path, { now: () => new Date(0).toISOString(), alone: 'copy' })).close();
    const file = new Database(path);
    file.exec('delete from meta');
    file.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
