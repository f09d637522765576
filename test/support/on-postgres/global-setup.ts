import type { TestProject } from 'vitest/node';
import { startPostgres } from '../postgres-server.ts';
import { makeTemplate } from './template.ts';

/** One server for all of the tests, as durable as a ledger demands of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ fsync: 'on', max_connections: '200' });
  if (!server) throw new Error('there is no PostgreSQL to test the ledger on');
  await makeTemplate(server.url);
  project.provide('ledgerServer', server.url);
  return () => server.stop();
}
