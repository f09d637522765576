import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openLedger } from '../../src/custody/open-ledger.ts';

/** A Mermaid picture of the tables that name each other, read from a new ledger. */
export async function schemaPicture(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-schema-'));
  try {
    const path = join(folder, 'ledger.db');
    await (await openLedger(path, { now: () => new Date(0).toISOString(), alone: 'copy' })).close();
    const file = new Database(path, { readonly: true });
    const lines = file
      .prepare<[], string>(
        `select f."table" || ' ||--o{ ' || t.name || ' : ' || f."from" from sqlite_master t
          join pragma_foreign_key_list(t.name) f where t.type = 'table' order by f."table", t.name, f."from"`,
      )
      .pluck()
      .all();
    file.close();
    return ['```mermaid', 'erDiagram', ...lines.map((line) => `    ${line}`), '```'].join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
