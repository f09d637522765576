import type { Migration } from 'kysely/migration';

/** Every migration that this version knows, in their order. Loaded only where one of them is still to be made. */
export const migrations: Record<string, () => Promise<Migration>> = {
  '0001-initial': () => import('./migrations/0001-initial.ts'),
};

export const knownMigrations = (): readonly string[] => Object.keys(migrations);
