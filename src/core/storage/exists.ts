import { existsSync } from 'node:fs';
import { isLedgerFile, type Place, schemaOf } from './place.ts';

/** Whether a ledger exists at this place. Throws PostgresFailure where the database does not answer. */
export async function isLedgerThere(place: Place): Promise<boolean> {
  if (isLedgerFile(place)) return existsSync(place.path);
  const { openPostgresSession: openSession } = await import('./postgres-session.ts');
  const session = await openSession(place.url);
  try {
    const [row] = await session.ask(
      `select to_regclass('"${schemaOf(place.url)}".meta') is not null as there`,
    );
    return row?.there === 1n;
  } finally {
    await session.close();
  }
}

/** Throws while the database of this place does not answer, or is a standby; a file always answers. */
export async function probeDatabase(place: Place): Promise<void> {
  if (isLedgerFile(place)) return;
  const { openPostgresSession: openSession } = await import('./postgres-session.ts');
  const { assertFit } = await import('./postgres-server.ts');
  const session = await openSession(place.url);
  try {
    await assertFit(session);
  } finally {
    await session.close();
  }
}
