import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  debianPostgresFolders,
  findProgram,
  folderFor,
  freePort,
  ordinaryUser,
  removeFolder,
  startServer,
  type User,
  untilAnswers,
} from './server-process.ts';

export type PostgresServer = {
  /** An empty database of its own. */
  url: string;
  /** Ends the server as kill -9 would; null where the server is not ours (POSTGRES_URL). */
  kill: (() => Promise<void>) | null;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * A database for one test file: a new one on POSTGRES_URL's server, else on a server of its own in a temporary folder
 * and on a free port (`settings` are its command line's, `-c name=value`). Null where there is no PostgreSQL:
 * the tests then say so in their title and are skipped.
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer | null> {
  const given = process.env.POSTGRES_URL;
  if (given) return onGivenServer(given);
  const initdb = findProgram('initdb', debianPostgresFolders());
  const user = ordinaryUser('postgres');
  if (!initdb || !user) return null;
  const program = join(initdb, '..', 'postgres');
  const folder = folderFor(user, 'counterfoil-postgres-');
  const data = join(folder, 'data');
  const init = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  execFileSync(initdb, init, { ...user, cwd: '/', stdio: 'pipe' });
  const server = await runPostgres({ program, folder, user }, { fsync: 'off', ...settings });
  await query(server.url('postgres'), 'CREATE DATABASE counterfoil');
  return { ...server, url: server.url('counterfoil') };
}

/** Runs a server on the files in `data` of this folder, and on a free port. */
export async function runPostgres(
  { program, folder, user }: { program: string; folder: string; user: User },
  settings: Record<string, string>,
) {
  const port = await freePort();
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const launch = async () => {
    const process = startServer(program, ['-D', join(folder, 'data'), '-p', String(port), ...args], user);
    await untilAnswers(process, () => query(url('postgres'), 'SELECT 1'));
    return process;
  };
  let server = await launch();
  const kill = async (): Promise<void> => {
    // SIGQUIT is PostgreSQL's own kill -9: children too end at once, and the next start recovers.
    server.signal('SIGQUIT');
    await server.ended;
  };
  return {
    url,
    kill,
    async start() {
      if (!server.alive()) server = await launch();
    },
    async stop() {
      await kill();
      removeFolder(folder);
    },
  };
}

/** What a title adds where there is no PostgreSQL to test with. */
export const noPostgres = ' (skipped: no PostgreSQL; set POSTGRES_URL or install its server)';

async function onGivenServer(given: string): Promise<PostgresServer> {
  const name = `counterfoil_${randomBytes(6).toString('hex')}`;
  await query(given, `CREATE DATABASE ${name}`);
  const url = new URL(given);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    kill: null,
    start: async () => undefined,
    stop: () => query(given, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

export async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
