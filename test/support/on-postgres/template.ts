import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { openLedger } from '../../../src/custody/open-ledger.ts';

/** Every database of the tests is a copy of this one. */
export const template = 'ledger_template';

/** Makes the tables once, without a ledger in them. */
export async function makeTemplate(server: string): Promise<void> {
  await query(server, `drop database if exists ${template}`);
  await query(server, `create database ${template}`);
  const url = databaseUrl(server, template);
  const path = join(tmpdir(), `counterfoil-template-${process.pid}`);
  const now = (): string => new Date(0).toISOString();
  await (await openLedger({ kind: 'postgres', path, url }, { now, alone: 'copy' })).close();
  await query(url, 'delete from counterfoil.meta');
}

export function databaseUrl(server: string, name: string): string {
  const address = new URL(server);
  address.pathname = `/${name}`;
  return address.href;
}

export async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
