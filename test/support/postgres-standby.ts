import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type PostgresServer, query, runPostgres } from './postgres-server.ts';
import { debianPostgresFolders, findProgram, folderFor, ordinaryUser } from './server-process.ts';

export type Standby = {
  /** The database of the primary, on this server. */
  url: string;
  /** Makes it the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

/** A server that follows another one of ours by streaming, without holding its commits. */
export async function startStandby(primary: PostgresServer): Promise<Standby> {
  const folders = debianPostgresFolders();
  const [program, copy] = ['postgres', 'pg_basebackup'].map((name) => findProgram(name, folders));
  const user = ordinaryUser('postgres');
  if (!program || !copy || !user) throw new Error('there is no PostgreSQL: install its server');
  const folder = folderFor(user, 'counterfoil-standby-');
  const { hostname, port: from, pathname } = new URL(primary.url);
  const source = ['-h', hostname, '-p', from, '-U', 'postgres'];
  execFileSync(copy, [...source, '-D', join(folder, 'data'), '-R', '-X', 'stream', '-c', 'fast'], {
    ...user,
    cwd: '/',
    stdio: 'pipe',
  });
  const server = await runPostgres({ program, folder, user }, { fsync: 'on' });
  const url = server.url(pathname.slice(1));
  return { url, promote: () => query(url, 'select pg_promote()'), stop: server.stop };
}
