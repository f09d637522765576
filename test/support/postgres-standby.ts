import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import type { PostgresServer } from './postgres-server.ts';
import {
  debianPostgresFolders,
  findProgram,
  folderFor,
  freePort,
  ordinaryUser,
  removeFolder,
  startServer,
  untilAnswers,
} from './server-process.ts';

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
  const data = join(folder, 'data');
  const { hostname, port: from, pathname } = new URL(primary.url);
  const source = ['-h', hostname, '-p', from, '-U', 'postgres'];
  execFileSync(copy, [...source, '-D', data, '-R', '-X', 'stream', '-c', 'fast'], {
    ...user,
    cwd: '/',
    stdio: 'pipe',
  });
  const port = await freePort();
  const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on'];
  const args = options.flatMap((option) => ['-c', option]);
  const server = startServer(program, ['-D', data, '-p', String(port), ...args], user);
  const url = `postgres://postgres@127.0.0.1:${port}${pathname}`;
  const ask = async (text: string): Promise<void> => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  await untilAnswers(server, () => ask('select 1'));
  return {
    url,
    promote: () => ask('select pg_promote()'),
    async stop() {
      server.signal('SIGQUIT');
      await server.ended;
      removeFolder(folder);
    },
  };
}
