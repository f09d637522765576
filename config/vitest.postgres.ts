import { fileURLToPath } from 'node:url';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { debianPostgresFolders, findProgram, ordinaryUser } from '../test/support/server-process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The doors to a ledger, by their names in src/custody and in test/support/on-postgres. */
const swapped = new Map([
  ['open-ledger', 'open'],
  ['verify-ledger', 'verify'],
  ['custody-gate', 'gate'],
]);

/** Whether there is a server to run the ledger's tests on. */
export function hasPostgres(): boolean {
  if (process.env.POSTGRES_URL) return true;
  return (
    findProgram('initdb', debianPostgresFolders()) !== undefined && ordinaryUser('postgres') !== undefined
  );
}

/** The same tests with every ledger in a database of its own on PostgreSQL, where else it is a file. */
export function onPostgres(files: { include: string[]; exclude?: string[] }): TestProjectInlineConfiguration {
  return {
    extends: true,
    plugins: [
      {
        name: 'ledgers-on-postgres',
        enforce: 'pre',
        resolveId(source: string, importer: string | undefined) {
          const [, name] = [...swapped].find(([own]) => source.endsWith(`/src/custody/${own}.ts`)) ?? [];
          if (
            name === undefined ||
            !importer?.startsWith(`${root}test/`) ||
            importer.includes('/on-postgres/')
          )
            return null;
          return `${root}test/support/on-postgres/${name}.ts`;
        },
      },
    ],
    test: {
      ...files,
      name: 'ledger on PostgreSQL',
      globalSetup: [`${root}test/support/on-postgres/global-setup.ts`],
    },
  };
}
