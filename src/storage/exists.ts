import { existsSync } from 'node:fs';
import { type Place, schemaOf } from './place.ts';

/** Whether a ledger exists at this place. Throws PostgresFailure where the database does not answer. */
export async function isLedgerThere(place: Place): Promise<boolean> {
  if (place.kind === 'sqlite') return existsSync(place.path);
  const { openSession } = await import('./postgres-session.ts');
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
