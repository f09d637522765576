import { onTestFinished } from 'vitest';
import { migrations } from '../../src/core/storage/known-migrations.ts';
import { addNextMigration } from './next-migration.ts';

/** Until the test is over, this program is of the next version: every ledger made before is an older one. */
export function startNextVersion(): void {
  const name = addNextMigration();
  onTestFinished(() => void delete migrations[name]);
}
