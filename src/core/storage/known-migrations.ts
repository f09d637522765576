import type { Migration } from 'kysely/migration';

/** Every migration of this version, in order. A migration is loaded only where it must run. */
export const migrations: Record<string, () => Promise<Migration>> = {
  '0001-initial': () => import('./migrations/0001-initial.ts'),
  '0002-table-names': () => import('./migrations/0002-table-names.ts'),
  '0003-doors': () => import('./migrations/0003-doors.ts'),
  '0004-pay-on': () => import('./migrations/0004-pay-on.ts'),
  '0005-payees': () => import('./migrations/0005-payees.ts'),
  '0006-mends': () => import('./migrations/0006-mends.ts'),
  '0007-desk-lists': () => import('./migrations/0007-desk-lists.ts'),
  '0008-payee-rules': () => import('./migrations/0008-payee-rules.ts'),
  '0009-payee-keys': () => import('./migrations/0009-payee-keys.ts'),
  '0010-sent-payees': () => import('./migrations/0010-sent-payees.ts'),
};

export const knownMigrations = (): readonly string[] => Object.keys(migrations);
