import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { keptLedgers } from '../../fixtures/ledgers/kept.ts';
import { migrationDigests } from '../../support/migration-digests.ts';

const folder = fileURLToPath(new URL('../../../src/core/storage/migrations', import.meta.url));

it('a migration of which a ledger is kept is never edited (its ledgers would lack the change, and new ones have it)', async () => {
  const digests = await migrationDigests();
  for (const { name, facts } of keptLedgers())
    for (const [migration, digest] of Object.entries(facts.migrations))
      expect(
        digests[migration],
        `${migration} makes other tables than those of test/fixtures/ledgers/${name}.db.gz. Undo that, and add a new migration (docs/contributing.md, "add a column")`,
      ).toEqual(digest);
});

it('a migration imports only files of its own number, since other code goes on changing', () => {
  for (const file of readdirSync(folder)) {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    const sources = [...text.matchAll(/from '([^']+)'/g)].map(([, source]) => source);
    const strange = sources.filter(
      (source) => source !== 'kysely' && !source?.startsWith(`./${file.slice(0, 5)}`),
    );
    expect(strange, `${file} imports what may change: copy that into it`).toEqual([]);
  }
});
