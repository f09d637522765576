import Database from 'better-sqlite3';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { query } from './on-postgres/template.ts';

/** An intruder: opens the ledger by other means, and first takes away what keeps it as it is. */
export async function tamper(ledger: Pick<Ledger, 'place'>, ...statements: string[]): Promise<void> {
  const { place } = ledger;
  if (place.kind === 'postgres') {
    const unguarded = ['set search_path = counterfoil', 'set session_replication_role = replica'];
    await query(place.url, [...unguarded, ...statements].join('; '));
    return;
  }
  const raw = new Database(place.path);
  raw.pragma('foreign_keys = OFF');
  const triggers = raw.prepare(`select name, sql from sqlite_master where type = 'trigger'`).all();
  const told = (trigger: unknown, key: 'name' | 'sql'): string =>
    String(typeof trigger === 'object' && trigger !== null && Reflect.get(trigger, key));
  for (const trigger of triggers) raw.exec(`drop trigger ${told(trigger, 'name')}`);
  for (const statement of statements) raw.exec(statement);
  for (const trigger of triggers) raw.exec(told(trigger, 'sql'));
  raw.close();
}
